-- event_receptor_count: how many receptors on events there are.
SELECT count(*) FROM pawl_event_receptor
