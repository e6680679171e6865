-- aside_head: when the first message of a held stream is due.
-- params: kind, key
SELECT scheduled_ms FROM aside INDEXED BY aside_key WHERE kind = ?1 AND key = ?2 ORDER BY seq LIMIT 1
