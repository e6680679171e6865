-- view_audits: see functions/view_audits.sql
SELECT v.* FROM pawl.view_audits($1, $2) v
