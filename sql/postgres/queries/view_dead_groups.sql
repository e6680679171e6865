-- view_dead_groups: see functions/view_dead_groups.sql
SELECT g.fingerprint, g.sample_error, g.letters, g.first_ms, g.last_ms FROM pawl.view_dead_groups($1, $2) g
