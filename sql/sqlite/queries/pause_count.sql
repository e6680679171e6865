-- pause_count: how many pauses there are.
SELECT count(*) FROM pawl_pause
