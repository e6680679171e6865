-- checkpoints_report: see functions/checkpoints_report.sql
SELECT pawl.checkpoints_report($1, $2, $3, $4, $5, $6, $7, $8)
