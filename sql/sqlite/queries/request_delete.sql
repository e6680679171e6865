-- request_delete: a request key that was used for nothing.
-- params: key
DELETE FROM pawl_request WHERE key = ?1
