-- waiter_find: whether somebody waits for one of these kinds.
-- params: kinds, now_ms
SELECT 1 FROM pawl_waiter WHERE (kinds & ?1) <> 0 AND until_ms > ?2 LIMIT 1
