-- why: see functions/why.sql
SELECT w.now_ms, w.seq, w.cause, w.instance, w.until_ms, w.blocker_id, w.blocker_seq, w.blocker_cause, w.many_ahead FROM pawl.why($1) w
