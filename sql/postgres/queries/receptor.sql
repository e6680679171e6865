-- receptor: receptors, which turn events into messages, and the patterns of event types.
-- calls: receptor_register, receptor_remove, receptors_feed, receptors_report

-- name: receptor_list
SELECT r.name, r.position, r.fed, r.registered_ms, r.head, r.patterns FROM pawl_internal.receptor_list() r
UNION ALL
SELECT NULL, 0, 0, 0, pawl_internal.events_head(NULL), NULL

-- name: view_receptors
SELECT r.receptor, r.status, r.attempts, r.updated_ms, r.error FROM pawl_internal.view_receptors($1) r
