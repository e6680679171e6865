-- dead: dead letters: dying, grouping, redriving, discarding.

-- name: dead_discard
SELECT pawl.dead_discard($1, $2)

-- name: dead_redrive
SELECT pawl.dead_redrive($1, $2)

-- name: view_dead_groups
SELECT g.fingerprint, g.letters, g.first_ms, g.last_ms, g.sample_error FROM pawl.view_dead_groups($1, $2) g
