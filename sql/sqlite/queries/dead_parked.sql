-- dead_parked: the parked letters of a stream.
-- params: kind, key
SELECT seq FROM pawl_dead INDEXED BY pawl_dead_key WHERE kind = ?1 AND key = ?2 AND reason = 4 ORDER BY seq
