-- event_receptor_waited: whether somebody who waits for these kinds may have a receptor on events to feed.
-- params: kinds, now_ms
SELECT 1 FROM pawl_waiter WHERE (kinds & ?1) <> 0 AND until_ms > ?2 AND EXISTS (SELECT 1 FROM pawl_event_receptor) LIMIT 1
