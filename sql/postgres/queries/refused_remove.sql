-- refused_remove: see functions/refused_remove.sql
SELECT pawl.refused_remove($1)
