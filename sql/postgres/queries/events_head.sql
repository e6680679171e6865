-- events_head: see functions/events_head.sql
SELECT pawl.events_head($1)
