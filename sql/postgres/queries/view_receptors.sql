-- view_receptors: see functions/view_receptors.sql
SELECT r.receptor, r.error, r.status, r.attempts, r.updated_ms FROM pawl.view_receptors($1) r
