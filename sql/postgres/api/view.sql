-- view: looking, for callers.

-- name: role_views
-- What the view role may look at: no payload, no headers, no error text of a message.
-- tables: those of message_all, instance, lane (read)
-- security_barrier: a cheap function in a user's query must not see rows that the view leaves out.
CREATE OR REPLACE VIEW pawl.instances WITH (security_barrier) AS
SELECT i.id, i.service, i.host, i.pid, i.kinds, CASE i.state WHEN 1 THEN 'active' ELSE 'evicted' END AS state,
       to_timestamp(i.started_ms / 1000.0) AS started_at, to_timestamp(i.beat_ms / 1000.0) AS last_heartbeat_at,
       to_timestamp(i.lease_until_ms / 1000.0) AS lease_until
  FROM pawl_internal.instance i;

CREATE OR REPLACE VIEW pawl.lanes WITH (security_barrier) AS
SELECT (ARRAY['outbox', 'inbox', 'perspective'])[l.kind] AS kind, l.lane, l.owner, greatest(l.token, c.turn) AS token,
       l.draining, c.at AS high, l.moves
  FROM pawl_internal.lane l
 CROSS JOIN LATERAL (SELECT x.turn, x.at FROM pawl_internal.claim x WHERE x.kind = l.kind AND x.lane = l.lane
                      ORDER BY x.token DESC, x.part LIMIT 1) c;

CREATE OR REPLACE VIEW pawl.messages WITH (security_barrier) AS
SELECT (ARRAY['outbox', 'inbox', 'perspective'])[v.kind] AS kind, v.seq, v.id, v.stream, v.topic, v.type, v.lane, v.partition,
       (ARRAY['ready', 'leased', 'scheduled', 'blocked', 'dead', 'done'])[v.state] AS state, v.claimed_by, v.attempts,
       v.deaths, to_timestamp(v.put_ms / 1000.0) AS put_at, to_timestamp(nullif(v.scheduled_ms, 0) / 1000.0) AS scheduled_for,
       to_timestamp(nullif(v.lease_until_ms, 0) / 1000.0) AS lease_until
  FROM pawl_internal.message_all v;

CREATE OR REPLACE VIEW pawl.dead_letters WITH (security_barrier) AS
SELECT (ARRAY['outbox', 'inbox', 'perspective'])[d.kind] AS kind, d.seq, d.id, d.stream, d.type, d.attempts, d.deaths,
       (ARRAY['attempts', 'permanent', 'killed', 'parked'])[d.reason] AS reason, d.fingerprint,
       to_timestamp(d.died_ms / 1000.0) AS died_at
  FROM pawl_internal.dead d;

CREATE OR REPLACE VIEW pawl.counts WITH (security_barrier) AS
SELECT (ARRAY['outbox', 'inbox', 'perspective'])[t.kind] AS kind, coalesce(sum(t.put), 0) AS put, coalesce(sum(t.done), 0) AS done,
       coalesce(sum(t.failed), 0) AS failed, coalesce(sum(t.aside), 0) AS aside, coalesce(sum(t.dead), 0) AS dead, coalesce(sum(t.stale), 0) AS stale,
       coalesce(sum(t.duplicate), 0) AS duplicate
  FROM pawl_internal.tally t GROUP BY t.kind;

-- name: status
-- tables: those of view_counts and job_counts
CREATE OR REPLACE FUNCTION pawl.status() RETURNS TABLE (
    kind text, queue text, ready bigint, running bigint, waiting bigint, dead bigint, done bigint, failed bigint, oldest_ready interval)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 10 AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT (ARRAY['outbox', 'inbox', 'perspective'])[c.kind], NULL::text, c.ready, c.leased, c.aside, c.dead, c.done, c.failed,
           make_interval(secs => (c.now_ms - nullif(c.oldest_ready_ms, 0)) / 1000.0) FROM pawl_internal.view_counts() c
    UNION ALL
    SELECT 'jobs', j.queue, j.ready, j.running, j.later + j.waiting, j.dead, j.done, j.failed,
           make_interval(secs => (j.now_ms - nullif(j.oldest_ready_ms, 0)) / 1000.0) FROM pawl_internal.job_counts() j;
END
$$;
COMMENT ON FUNCTION pawl.status IS
'Returns how much work there is: a row for each kind of message and for each queue of jobs, with how long the oldest has been ready. waiting counts what waits for another attempt, a later time or a signal.
Example: SELECT kind, queue, ready, running, dead FROM pawl.status()';

-- name: why
-- tables: those of the internal why
CREATE OR REPLACE FUNCTION pawl.why(id uuid) RETURNS TABLE (
    cause text, instance uuid, until timestamptz, blocker uuid, blocker_cause text, many_ahead boolean, locked text, locked_pid integer)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 AS $$
#variable_conflict use_column
DECLARE
    c_causes constant text[] := ARRAY['running', 'lease over', 'ready', 'no owner', 'owner silent', 'draining', 'behind', 'scheduled',
                                      'suspect', 'blocked', 'dead', 'done', 'paused', 'cancelled'];
BEGIN
    RETURN QUERY
    SELECT c_causes[w.cause], w.instance, pawl_internal.moment(nullif(w.until_ms, 0)), w.blocker_id, c_causes[w.blocker_cause], w.many_ahead,
           w.locked, w.locked_pid FROM pawl_internal.why(pawl_internal.needed('id', why.id)) w;
END
$$;
COMMENT ON FUNCTION pawl.why IS
'Says why a message is not done: the cause, who holds it and until when, the message it waits for, and a transaction that locks it. No row if the id is unknown.
Errors: PW001 if the id is NULL.
Example: SELECT cause FROM pawl.why(pawl.send(''order.placed'', ''{}''))';

-- name: job_why
-- tables: those of the internal job_why
CREATE OR REPLACE FUNCTION pawl.job_why(id bigint) RETURNS TABLE (cause text, until timestamptz, ahead bigint, "limit" integer, running integer)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT (ARRAY['running', 'lease over', 'ready', 'no worker', 'concurrency', 'rate', 'later', 'waiting', 'dead'])[w.cause],
           pawl_internal.moment(nullif(w.until_ms, 0)), w.ahead, w.most, w.running
      FROM pawl_internal.job_why(pawl_internal.needed('id', job_why.id)) w WHERE w.cause IS NOT NULL;
END
$$;
COMMENT ON FUNCTION pawl.job_why IS
'Says why a job is not done: the cause, until when, how many are ahead of it, and the limit of its key. No row if there is no such job.
Errors: PW001 if the id is NULL.
Example: SELECT cause, ahead FROM pawl.job_why(pawl.enqueue(''report''))';
