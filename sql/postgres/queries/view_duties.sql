-- view_duties: see functions/view_duties.sql
SELECT v.* FROM pawl.view_duties() v
