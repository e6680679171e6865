-- renew: see functions/renew.sql
SELECT pawl.renew($1, $2, $3, $4, $5)
