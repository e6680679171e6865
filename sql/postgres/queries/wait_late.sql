-- wait_late: see functions/wait_late.sql
SELECT pawl.wait_late()
