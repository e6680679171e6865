-- events_stamp: see functions/events_stamp.sql
SELECT s.stamped, s.last_position FROM pawl.events_stamp($1) s
