-- audit_add: see functions/audit_add.sql
SELECT pawl.audit_add($1, $2, $3)
