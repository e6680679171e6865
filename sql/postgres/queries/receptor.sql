-- receptor: receptors, which turn events into messages, and the patterns of event types.

-- name: receptor_list
SELECT r.name, r.position, r.fed, r.registered_ms, r.head, r.patterns FROM pawl.receptor_list() r
UNION ALL
SELECT NULL, 0, 0, 0, pawl.events_head(NULL), NULL

-- name: receptor_register
SELECT pawl.receptor_register($1, $2, $3, $4, $5)

-- name: receptor_remove
SELECT pawl.receptor_remove($1)

-- name: receptors_feed
SELECT f.known, f.events, f.fed, f.more FROM pawl.receptors_feed($1, $2) f

-- name: receptors_report
SELECT pawl.receptors_report($1, $2, $3, $4)

-- name: view_receptors
SELECT r.receptor, r.status, r.attempts, r.updated_ms, r.error FROM pawl.view_receptors($1) r
