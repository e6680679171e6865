-- audit_anchor: see functions/audit_anchor.sql
SELECT * FROM pawl.audit_anchor($1)
