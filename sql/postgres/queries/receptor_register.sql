-- receptor_register: see functions/receptor_register.sql
SELECT pawl.receptor_register($1, $2, $3, $4, $5)
