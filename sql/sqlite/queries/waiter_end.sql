-- waiter_end: an instance does not need to be woken any more; wishes that are over go with it.
-- params: instance, now_ms
DELETE FROM pawl_waiter WHERE instance = ?1 OR until_ms <= ?2
