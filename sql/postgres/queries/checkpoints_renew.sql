-- checkpoints_renew: see functions/checkpoints_renew.sql
SELECT pawl.checkpoints_renew($1, $2, $3, $4, $5)
