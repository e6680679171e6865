-- audit: the audit trail: runs of jobs in blocks and chains, anchors, the spine, actions of operators.

-- name: audit_add
SELECT pawl.audit_add($1, $2, $3)

-- name: audit_anchor
SELECT * FROM pawl.audit_anchor($1)

-- name: audit_head
SELECT * FROM pawl.audit_head()

-- name: audit_verify
SELECT * FROM pawl.audit_verify($1)

-- name: spine_read
SELECT * FROM pawl.spine_read($1)

-- name: spine_remove
SELECT pawl.spine_remove($1)

-- name: task_runs
SELECT * FROM pawl.task_runs($1, $2, $3, $4, $5, $6, $7)

-- name: view_audits
SELECT v.* FROM pawl.view_audits($1, $2) v
