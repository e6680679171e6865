-- settings_change: see functions/settings_change.sql
SELECT pawl.settings_change($1, $2, $3, $4, $5, $6, $7)
