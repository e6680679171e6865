-- receptors_report: see functions/receptors_report.sql
SELECT pawl.receptors_report($1, $2, $3, $4)
