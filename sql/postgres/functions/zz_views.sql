-- zz_views: what the view role may look at: no payload, no headers, no error text of a message.
-- tables: those of message_all, instance, lane (read)
-- security_barrier: a cheap function in somebody's query must not see rows that the view leaves out.
CREATE OR REPLACE VIEW pawl.instances WITH (security_barrier) AS
SELECT i.id, i.service, i.host, i.pid, i.kinds, CASE i.state WHEN 1 THEN 'active' ELSE 'evicted' END AS state,
       to_timestamp(i.started_ms / 1000.0) AS started_at, to_timestamp(i.beat_ms / 1000.0) AS last_heartbeat_at,
       to_timestamp(i.lease_until_ms / 1000.0) AS lease_until
  FROM pawl.instance i;

CREATE OR REPLACE VIEW pawl.lanes WITH (security_barrier) AS
SELECT (ARRAY['outbox', 'inbox', 'perspective'])[l.kind] AS kind, l.lane, l.owner, l.token, l.draining, l.high, l.moves
  FROM pawl.lane l;

CREATE OR REPLACE VIEW pawl.messages WITH (security_barrier) AS
SELECT (ARRAY['outbox', 'inbox', 'perspective'])[v.kind] AS kind, v.seq, v.id, v.stream, v.topic, v.type, v.lane, v.partition,
       (ARRAY['ready', 'leased', 'scheduled', 'blocked', 'dead', 'done'])[v.state] AS state, v.claimed_by, v.attempts,
       v.deaths, to_timestamp(v.put_ms / 1000.0) AS put_at, to_timestamp(nullif(v.scheduled_ms, 0) / 1000.0) AS scheduled_for,
       to_timestamp(nullif(v.lease_until_ms, 0) / 1000.0) AS lease_until
  FROM pawl.message_all v;

CREATE OR REPLACE VIEW pawl.dead_letters WITH (security_barrier) AS
SELECT (ARRAY['outbox', 'inbox', 'perspective'])[d.kind] AS kind, d.seq, d.id, d.stream, d.type, d.attempts, d.deaths,
       (ARRAY['attempts', 'permanent', 'killed', 'parked'])[d.reason] AS reason, d.fingerprint,
       to_timestamp(d.died_ms / 1000.0) AS died_at
  FROM pawl.dead d;

CREATE OR REPLACE VIEW pawl.counts WITH (security_barrier) AS
SELECT (ARRAY['outbox', 'inbox', 'perspective'])[t.kind] AS kind, coalesce(sum(t.put), 0) AS put, coalesce(sum(t.done), 0) AS done,
       coalesce(sum(t.failed), 0) AS failed, coalesce(sum(t.aside), 0) AS aside, coalesce(sum(t.dead), 0) AS dead, coalesce(sum(t.stale), 0) AS stale,
       coalesce(sum(t.duplicate), 0) AS duplicate
  FROM pawl.tally t GROUP BY t.kind;
