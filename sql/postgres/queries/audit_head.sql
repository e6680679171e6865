-- audit_head: see functions/audit_head.sql
SELECT * FROM pawl.audit_head()
