-- lanes_owned: see functions/lanes_owned.sql
SELECT l.outbox, l.inbox, l.perspective FROM pawl.lanes_owned($1) l
