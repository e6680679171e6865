-- view: queries for operators: messages, counts, and why a message waits.
-- calls: rollups_add, view_ids, view_rollups

-- name: view_counts
SELECT {{c.tally}}, c.lanes_free, c.claims_active, c.claims_overdue, c.leased, c.oldest_ready_ms, c.next_due_ms, c.now_ms, c.ready
  FROM pawl_internal.view_counts() c

-- name: view_message
SELECT r.token, r.lease_until_ms, r.seq, {{r.message}}, r.attempt, r.deaths, r.out_of_order, r.state,
       r.claimed_by, r.attempts, r.scheduled_ms, r.reason, r.error, r.fingerprint, r.ended_ms
  FROM pawl_internal.view_message($1) r

-- name: view_messages
SELECT r.token, r.lease_until_ms, r.seq, {{r.message}}, r.attempt, r.deaths, r.out_of_order, r.state,
       r.claimed_by, r.attempts, r.scheduled_ms, r.reason, r.error, r.fingerprint, r.ended_ms, p.next_seq
  FROM pawl_internal.view_messages($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) p
  LEFT JOIN LATERAL pawl_internal.view_message_rows(p.places, p.kinds, p.lanes, p.seqs) r ON true

-- name: why
SELECT w.now_ms, w.seq, w.cause, w.instance, w.until_ms, w.blocker_id, w.blocker_seq, w.blocker_cause, w.many_ahead,
       CASE WHEN a.pid IS NOT NULL THEN w.locked END, a.pid, a.application_name,
       COALESCE((EXTRACT(epoch FROM a.xact_start) * 1000)::bigint, 0)
  FROM pawl_internal.why($1) w
  LEFT JOIN pg_catalog.pg_stat_activity a
    ON a.pid = w.locked_pid
   AND (a.xact_start IS NULL OR a.xact_start < pg_catalog.clock_timestamp() - interval '1 second')
