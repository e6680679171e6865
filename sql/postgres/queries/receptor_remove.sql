-- receptor_remove: see functions/receptor_remove.sql
SELECT pawl.receptor_remove($1)
