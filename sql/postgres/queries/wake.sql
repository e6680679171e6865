-- wake: see functions/wake.sql
SELECT pawl.wake()
