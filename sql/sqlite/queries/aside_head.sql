-- aside_head: when the first message of a held stream is due.
-- params: kind, key
SELECT scheduled_ms FROM pawl_aside INDEXED BY pawl_aside_key WHERE kind = ?1 AND key = ?2 ORDER BY seq LIMIT 1
