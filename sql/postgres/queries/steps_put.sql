-- steps_put: see functions/steps_put.sql
SELECT pawl.steps_put($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
