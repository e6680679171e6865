-- dead: dead letters: dying, grouping, redriving, discarding.
-- calls: dead_discard, dead_edit, dead_redrive

-- name: view_dead_groups
SELECT g.fingerprint, g.letters, g.first_ms, g.last_ms, g.sample_error FROM pawl_internal.view_dead_groups($1, $2) g
