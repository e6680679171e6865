-- worker: a worker's batch: reports, claims, waiting for work and being woken.

-- name: waiter_begin
-- Note that an instance wants to be woken.
-- params: instance, kinds, until_ms
INSERT INTO pawl_waiter (instance, kinds, until_ms) VALUES (?1, ?2, ?3)
    ON CONFLICT (instance) DO UPDATE SET kinds = excluded.kinds, until_ms = excluded.until_ms

-- name: waiter_end
-- Withdraws an instance's request to be woken; expired requests are removed with it.
-- params: instance, now_ms
DELETE FROM pawl_waiter WHERE instance = ?1 OR until_ms <= ?2

-- name: waiter_find
-- Whether a worker waits for one of these kinds.
-- params: kinds, now_ms
SELECT 1 FROM pawl_waiter WHERE (kinds & ?1) <> 0 AND until_ms > ?2 LIMIT 1
