-- event_matching: how many events of a stream are for a perspective.
-- params: stream, after version, through version, key
SELECT count(*) FROM pawl_event e
 WHERE e.stream = ?1 AND e.version > ?2 AND e.version <= ?3 AND EXISTS (SELECT 1 FROM pawl_mapping m WHERE m.type = e.type AND m.key = ?4)
