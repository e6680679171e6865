-- schedule_remove: see functions/schedule_remove.sql
SELECT pawl.schedule_remove($1)
