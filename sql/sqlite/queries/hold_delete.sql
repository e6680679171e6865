-- hold_delete: a stream goes on.
-- params: kind, key
DELETE FROM pawl_hold WHERE kind = ?1 AND key = ?2
