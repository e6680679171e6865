-- tombstone_find: whether an id has a tombstone.
-- params: id
SELECT 1 FROM pawl_tombstone WHERE id = ?1
