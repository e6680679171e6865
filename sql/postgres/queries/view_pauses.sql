-- view_pauses: see functions/view_pauses.sql
SELECT v.* FROM pawl.view_pauses() v
