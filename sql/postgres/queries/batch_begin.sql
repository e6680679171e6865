-- batch_begin: see functions/batch_begin.sql
SELECT b.now_ms, b.lease_until_ms FROM pawl.batch_begin($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) b
