-- audit_verify: see functions/audit_verify.sql
SELECT * FROM pawl.audit_verify($1)
