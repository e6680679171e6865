-- mapping_delete: a perspective gets no more events.
-- params: key
DELETE FROM mapping WHERE key = ?1
