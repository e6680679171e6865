-- liveness_hold: see functions/liveness_hold.sql
SELECT pawl.liveness_hold($1)
