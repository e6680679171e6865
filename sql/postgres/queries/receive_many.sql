-- receive_many: see functions/receive_many.sql
SELECT pawl.receive_many($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
