-- postgres: what the benchmarks run on PostgreSQL besides pawl: the floor (plain tables), PgQ, notifications, projections.

-- name: calm
-- Nobody pays for the writes of what came before.
CHECKPOINT;

-- name: drop_all
-- Nothing of an earlier measurement is left.
DROP SCHEMA IF EXISTS pawl, pawl_internal CASCADE;
DROP SCHEMA IF EXISTS bench CASCADE;

-- name: empty_batch
-- One turn with nothing to report, as any language would call it: the instance, and defaults for the rest.
SELECT * FROM pawl.process_work_batch($1::uuid, 'bench', 'bench', 1)

-- name: floor_append_batch
-- Many events of one stream by one INSERT from arrays.
INSERT INTO bench.event (stream, version, id, type, payload, appended_ms)
SELECT $1::text, $2::bigint - 1 + e.n, e.id, e.type, e.payload::json, (extract(epoch FROM statement_timestamp()) * 1000)::bigint
  FROM unnest($3::uuid[], $4::text[], $5::text[]) WITH ORDINALITY AS e (id, type, payload, n)

-- name: floor_append_one
-- One event by a plain INSERT.
INSERT INTO bench.event (stream, version, id, type, payload, appended_ms)
VALUES ($1::text, $2::bigint, $3::uuid, $4::text, $5::json, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)

-- name: floor_append_table
-- A copy of pawl_internal.event with its indexes and constraints, without anything around it.
DROP SCHEMA IF EXISTS bench CASCADE;
CREATE SCHEMA bench;
CREATE TABLE bench.event (LIKE pawl_internal.event INCLUDING ALL);

-- name: floor_delete
-- Rows by their keys. The range and the join make it fast whatever the planner believes: with = ANY alone
-- and no statistics it reads the whole lane.
DELETE FROM bench.message AS m
 USING unnest($2::bigint[]) AS s (seq)
 WHERE m.kind = 1 AND m.lane = $1::int AND m.seq BETWEEN $3::bigint AND $4::bigint AND m.seq = s.seq

-- name: floor_item_put
-- The items of one page by one upsert from arrays.
INSERT INTO bench.item (run, part, key, payload)
SELECT 1, $1::int, i.key, i.payload::json FROM unnest($2::text[], $3::text[]) AS i (key, payload)
ON CONFLICT (run, key) DO UPDATE SET payload = excluded.payload, part = excluded.part

-- name: floor_item_table
-- A copy of pawl_internal.run_item, with its indexes but without anything around it.
DROP SCHEMA IF EXISTS bench CASCADE;
CREATE SCHEMA bench;
CREATE TABLE bench.item (LIKE pawl_internal.run_item INCLUDING ALL);

-- name: floor_project_checkpoint
-- How far the read model is, stream by stream, in the transaction that writes it.
UPDATE bench.checkpoint AS c SET version = e.version, status = 2
  FROM (SELECT u.stream, max(u.version) AS version FROM unnest($1::text[], $2::bigint[]) AS u (stream, version) GROUP BY 1) AS e
 WHERE c.stream = e.stream AND c.perspective = 'total'

-- name: floor_project_checkpoints
-- A checkpoint for each stream, as the append makes them.
CREATE TABLE bench.checkpoint (LIKE pawl_internal.checkpoint INCLUDING ALL);
INSERT INTO bench.checkpoint (stream, perspective, updated_ms) SELECT DISTINCT e.stream, 'total', 0 FROM bench.event e;

-- name: floor_project_cursor
-- How far the read model is, in the transaction that writes it.
UPDATE bench.cursor SET position = $1::bigint

-- name: floor_project_events
-- $1 events over $2 streams, in turn.
INSERT INTO bench.event (stream, version, id, type, payload, appended_ms)
SELECT 'order-' || n % $2::bigint, n / $2::bigint + 1, gen_random_uuid(), 'order.placed',
       ('{"n":' || n || ',"sku":"A-1009","quantity":3,"note":"as agreed"}')::json, 0
  FROM generate_series(0, $1::bigint - 1) AS n

-- name: floor_project_fill
-- As many events as were asked for, with positions; the cursor at the start.
CREATE TABLE bench.event (LIKE pawl_internal.event INCLUDING ALL);
ALTER TABLE bench.event ADD COLUMN position bigint GENERATED ALWAYS AS IDENTITY UNIQUE;
CREATE TABLE bench.cursor (position bigint NOT NULL);
INSERT INTO bench.cursor VALUES (0);

-- name: floor_project_read
-- The next events by position.
SELECT position, stream, version, id, type, payload, metadata, correlation_id, causation_id, traceparent, appended_ms
  FROM bench.event WHERE position > $1::bigint ORDER BY position LIMIT $2::int

-- name: floor_project_upsert
-- The read model from arrays.
INSERT INTO bench.total AS t (stream, version, quantity)
SELECT e.stream, max(e.version), sum((e.payload::json ->> 'quantity')::bigint)
  FROM unnest($1::text[], $2::bigint[], $3::text[]) AS e (stream, version, payload) GROUP BY 1 ORDER BY 1
    ON CONFLICT (stream) DO UPDATE SET version = excluded.version, quantity = t.quantity + excluded.quantity

-- name: floor_put_batch
-- Many rows by one INSERT from arrays.
INSERT INTO bench.message (kind, lane, seq, partition, id, put_ms, stream, topic, type, payload)
SELECT 1, m.lane, nextval('bench.message_seq'), m.partition, m.id,
       (extract(epoch FROM statement_timestamp()) * 1000)::bigint, m.stream, m.topic, m.type, m.payload::json
  FROM unnest($1::int[], $2::int[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[])
       AS m (lane, partition, id, stream, topic, type, payload)

-- name: floor_put_one
-- One row by a plain INSERT.
INSERT INTO bench.message (kind, lane, seq, partition, id, put_ms, stream, topic, type, payload)
VALUES (1, $1::int, nextval('bench.message_seq'), $2::int, $3::uuid,
        (extract(epoch FROM clock_timestamp()) * 1000)::bigint, $4::text, $5::text, $6::text, $7::json)

-- name: floor_read
-- The next rows of a lane after the cursor, by the index.
SELECT seq, partition, put_ms, id, stream, topic, type, consumer, correlation_id, causation_id, traceparent, headers,
       payload
  FROM bench.message
 WHERE kind = 1 AND lane = $1::int AND seq > $2::bigint
 ORDER BY seq
 LIMIT $3::int

-- name: floor_session
-- The plans of the hot statements are pinned, as pawl's are: a table that swings between empty and full
-- misleads the planner.
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_nestloop = off;
SET enable_mergejoin = off;
SET jit = off;
SET plan_cache_mode = force_generic_plan;

-- name: floor_table
-- A copy of pawl_internal.message as one table that rows are deleted from, with a key and an index on the ids, and vacuumed often.
-- A put checks these limits in its function; a table that is written to by plain INSERTs checks them itself.
DROP SCHEMA IF EXISTS bench CASCADE;
CREATE SCHEMA bench;
CREATE TABLE bench.message (
    LIKE pawl_internal.message,
    CHECK (kind BETWEEN 1 AND 3),
    CHECK (octet_length(stream) BETWEEN 1 AND 200),
    CHECK (octet_length(topic) <= 200),
    CHECK (octet_length(type) BETWEEN 1 AND 200),
    CHECK (octet_length(payload::text) <= 16777216),
    CHECK (octet_length(headers::text) <= 65536),
    CHECK (kind <> 2 OR octet_length(consumer) BETWEEN 1 AND 128)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_insert_scale_factor = 0.2, autovacuum_analyze_threshold = 20000, autovacuum_vacuum_cost_delay = 1);
ALTER TABLE bench.message DROP COLUMN segment, DROP COLUMN xid, ADD PRIMARY KEY (kind, lane, seq);
CREATE INDEX message_id ON bench.message (id);
CREATE SEQUENCE bench.message_seq;

-- name: hold
-- A transaction with an id and a snapshot, as a forgotten session or a long report has; it ends with its session.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT pg_current_xact_id();

-- name: listen_back
-- Wakes when somebody notifies on the way back.
LISTEN back

-- name: listen_there
-- Wakes when somebody notifies on the way there.
LISTEN there

-- name: notify
-- The smallest wake-up there is, in a transaction of its own.
SELECT pg_notify($1, '')

-- name: notify_row
-- One small row made durable and told of, in a transaction of its own.
WITH put AS (INSERT INTO bench.trip (channel) VALUES ($1)) SELECT pg_notify($1, '')

-- name: notify_table
-- Where the rows of a durable round trip go.
DROP SCHEMA IF EXISTS bench CASCADE;
CREATE SCHEMA bench;
CREATE TABLE bench.trip (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, channel text NOT NULL);

-- name: pgq_events
-- What is in a batch.
SELECT * FROM pgq.get_batch_events($1::bigint)

-- name: pgq_finish
-- Acknowledges a batch whole.
SELECT pgq.finish_batch($1::bigint)

-- name: pgq_next
-- The number of the consumer's next batch, NULL when there is none.
SELECT pgq.next_batch('bench', 'consumer')

-- name: pgq_put
-- Events from arrays; the stream travels as the first extra field.
SELECT count(pgq.insert_event('bench', m.type, m.payload, m.stream, NULL, NULL, NULL))
  FROM unnest($1::text[], $2::text[], $3::text[]) AS m (type, payload, stream)

-- name: pgq_queue
-- A fresh queue that ticks whenever it is told to, with one consumer.
DROP EXTENSION IF EXISTS pgq CASCADE;
DROP SCHEMA IF EXISTS pgq CASCADE;
CREATE EXTENSION pgq;
SELECT pgq.create_queue('bench');
SELECT pgq.set_queue_config('bench', 'ticker_max_count', '1');
SELECT pgq.set_queue_config('bench', 'ticker_max_lag', '0 seconds');
SELECT pgq.set_queue_config('bench', 'ticker_idle_period', '0 seconds');
SELECT pgq.register_consumer('bench', 'consumer');

-- name: pgq_tick
-- Closes a batch.
SELECT pgq.ticker('bench')

-- name: project
-- What a perspective does with its events.
INSERT INTO bench.total AS t (stream, version, quantity)
SELECT e.stream, max(e.version), sum((e.payload ->> 'quantity')::bigint) FROM pawl.event_rows($1) AS e GROUP BY 1 ORDER BY 1
    ON CONFLICT (stream) DO UPDATE SET version = excluded.version, quantity = t.quantity + excluded.quantity

-- name: project_applied
-- How many events pawl has applied so far.
SELECT coalesce(sum(applied), 0) FROM pawl_internal.perspective_tally

-- name: project_fold
-- The counts of the perspectives in one row, as maintenance keeps them.
SELECT pawl_internal.perspective_tally_fold() FROM generate_series(1, 20)

-- name: project_sum
-- What the read model holds in the end.
SELECT sum(quantity) FROM bench.total

-- name: project_table
-- The read model, the same for pawl and for the floor.
CREATE SCHEMA IF NOT EXISTS bench;
CREATE TABLE bench.total (stream text COLLATE "C" PRIMARY KEY, version bigint NOT NULL, quantity bigint NOT NULL);

-- name: project_vacuum
-- What the fold has left behind.
VACUUM pawl_internal.perspective_tally

-- name: table_bytes
-- What the messages take, indexes included.
SELECT sum(pg_total_relation_size(t.relid)) FROM pg_partition_tree('pawl_internal.message') t;

-- name: transactions
-- How many the server has counted for this database; statistics arrive up to a second late.
SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()
