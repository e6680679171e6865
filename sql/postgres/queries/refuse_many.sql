-- refuse_many: see functions/refuse_many.sql
SELECT pawl.refuse_many($1, $2, $3, $4, $5, $6, $7, $8, $9)
