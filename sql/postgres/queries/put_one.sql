-- put_one: see functions/put_one.sql
SELECT pawl.put_one($1, $2, $3, $4, $5, $6, $7, $8, $9)
