-- audit: the audit trail: runs of jobs in blocks and chains, anchors, the spine, actions of operators.

-- name: anchor_heads_insert
-- Heads that no anchor names are named by this one.
INSERT INTO pawl_audit_anchor_head (chain, number, anchor, hash)
SELECT c.chain, c.number, ?1, c.hash FROM pawl_audit_chain c
 WHERE NOT EXISTS (SELECT 1 FROM pawl_audit_anchor_head h WHERE h.chain = c.chain AND h.number = c.number)

-- name: anchor_insert
-- An anchor.
INSERT INTO pawl_audit_anchor (number, made_ms, previous, hash) VALUES (?1, ?2, ?3, ?4)

-- name: anchor_last
-- The last anchor.
SELECT number, made_ms, hash FROM pawl_audit_anchor ORDER BY number DESC LIMIT 1

-- name: anchor_lost
-- An anchor that is missing although heads say that it was there.
SELECT h.anchor FROM pawl_audit_anchor_head h WHERE h.anchor NOT IN (SELECT number FROM pawl_audit_anchor) ORDER BY h.anchor LIMIT 1

-- name: anchor_moved
-- Heads that no anchor names.
SELECT c.chain, c.number, c.hash FROM pawl_audit_chain c
 WHERE NOT EXISTS (SELECT 1 FROM pawl_audit_anchor_head h WHERE h.chain = c.chain AND h.number = c.number)
 ORDER BY c.chain

-- name: anchor_verify
-- Every anchor with the heads it names, and the blocks that they are the hashes of.
SELECT a.number, a.made_ms, a.previous, a.hash, h.chain, h.number, h.hash, b.hash
  FROM pawl_audit_anchor a LEFT JOIN pawl_audit_anchor_head h ON h.anchor = a.number
  LEFT JOIN pawl_audit_block b ON b.chain = h.chain AND b.number = h.number
 ORDER BY a.number, h.chain

-- name: audit_insert
-- Note what a person did.
-- params: now_ms, actor, action, detail
INSERT INTO pawl_audit (at_ms, actor, action, detail) VALUES (?1, ?2, ?3, ?4)

-- name: view_audits
-- What people did, the latest first.
-- params: before (0: all), limit
SELECT number, at_ms, actor, action, detail FROM pawl_audit WHERE ?1 = 0 OR number < ?1 ORDER BY number DESC LIMIT ?2

-- name: block_insert
-- The block of one call.
INSERT INTO pawl_audit_block (chain, number, id, made_ms, previous, hash, entries) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)

-- name: block_list
-- Every block, by chain and number.
SELECT chain, number, id, made_ms, previous, hash, entries FROM pawl_audit_block ORDER BY chain, number

-- name: block_list_id
-- Every block, by id.
SELECT id, chain, number, entries FROM pawl_audit_block ORDER BY id

-- name: chain_broken
-- A chain whose head is not its last block, or that has no head.
SELECT 1 FROM pawl_audit_chain c
 WHERE c.hash IS NOT (SELECT b.hash FROM pawl_audit_block b WHERE b.chain = c.chain ORDER BY b.number DESC LIMIT 1)
    OR c.number IS NOT (SELECT max(b.number) FROM pawl_audit_block b WHERE b.chain = c.chain)
UNION ALL
SELECT 1 FROM pawl_audit_block b WHERE NOT EXISTS (SELECT 1 FROM pawl_audit_chain c WHERE c.chain = b.chain)
 LIMIT 1

-- name: chain_find
-- The head of a chain.
SELECT number, hash FROM pawl_audit_chain WHERE chain = ?1

-- name: chain_put
-- The new head of a chain.
INSERT OR REPLACE INTO pawl_audit_chain (chain, number, hash) VALUES (?1, ?2, ?3)

-- name: run_insert
-- One execution.
INSERT INTO pawl_task_run (id, job, task, type, queue, attempt, instance, token, started_ms, finished_ms, outcome, output, error, steps, input_hash, output_hash, hash, expires_ms, block, place)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)

-- name: run_list
-- Executions before an id, newest first, and whether each fits.
-- params: before, outcome (0: any), since_ms
SELECT id, job, task, type, queue, attempt, instance, token, started_ms, finished_ms, outcome, output, error, steps, input_hash, output_hash, hash,
       (?2 = 0 OR outcome = ?2) AND finished_ms >= ?3
  FROM pawl_task_run WHERE id < ?1 ORDER BY id DESC

-- name: run_list_job
-- The executions of a job before an id, newest first, and whether each fits.
-- params: before, outcome (0: any), since_ms, job, task (NULL: any)
SELECT id, job, task, type, queue, attempt, instance, token, started_ms, finished_ms, outcome, output, error, steps, input_hash, output_hash, hash,
       (?2 = 0 OR outcome = ?2) AND finished_ms >= ?3
  FROM pawl_task_run WHERE job = ?4 AND (?5 IS NULL OR task = ?5) AND id < ?1 ORDER BY id DESC

-- name: run_list_task
-- The executions of a task before an id, newest first, and whether each fits.
-- params: before, outcome (0: any), since_ms, task
SELECT id, job, task, type, queue, attempt, instance, token, started_ms, finished_ms, outcome, output, error, steps, input_hash, output_hash, hash,
       (?2 = 0 OR outcome = ?2) AND finished_ms >= ?3
  FROM pawl_task_run WHERE task = ?4 AND id < ?1 ORDER BY id DESC

-- name: run_places
-- Where the executions are in the blocks.
SELECT block, place FROM pawl_task_run ORDER BY block, place

-- name: run_verify
-- Every execution with its place in the chain.
SELECT r.id, r.job, r.task, r.type, r.queue, r.attempt, r.instance, r.token, r.started_ms, r.finished_ms, r.outcome, r.output, r.error, r.steps, r.input_hash, r.output_hash, r.hash, r.expires_ms, r.place, b.entries
  FROM pawl_task_run r LEFT JOIN pawl_audit_block b ON b.id = r.block ORDER BY r.id

-- name: spine_delete
-- An event was passed on.
DELETE FROM pawl_spine WHERE id = ?1

-- name: spine_insert
-- What happened to a job.
INSERT INTO pawl_spine (job, event, attempt, made_ms, instance, task, type, error, payload) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)

-- name: spine_list
-- The oldest events.
SELECT id, job, event, attempt, made_ms, instance, task, type, error, payload FROM pawl_spine ORDER BY id LIMIT ?1

-- name: sweep_runs
-- Executions beyond their retention.
DELETE FROM pawl_task_run WHERE id IN (SELECT id FROM pawl_task_run WHERE expires_ms < ?1 LIMIT ?2)

-- name: sweep_spine
-- Events that were not passed on for 7 days.
-- params: now_ms, limit
DELETE FROM pawl_spine WHERE id IN (SELECT id FROM (SELECT id, made_ms FROM pawl_spine ORDER BY id LIMIT ?2) WHERE made_ms < ?1 - 604800000)

-- name: task_run_sums
-- Sums over the executions that finished since a moment; ids grow with time, so older ones are not read.
-- params: since_ms, instance (NULL: of any)
SELECT count(*), coalesce(sum(outcome = :RUN_SUCCEEDED), 0), coalesce(sum(finished_ms - started_ms), 0), count(DISTINCT instance)
  FROM pawl_task_run
 WHERE id > coalesce((SELECT o.id FROM pawl_task_run o WHERE o.finished_ms < ?1 ORDER BY o.id DESC LIMIT 1), 0)
   AND (?2 IS NULL OR instance = ?2)
