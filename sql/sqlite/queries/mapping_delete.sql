-- mapping_delete: a perspective gets no more events.
-- params: key
DELETE FROM pawl_mapping WHERE key = ?1
