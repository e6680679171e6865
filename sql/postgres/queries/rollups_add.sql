-- rollups_add: see functions/rollups_add.sql
SELECT pawl.rollups_add($1, $2, $3, $4, $5, $6)
