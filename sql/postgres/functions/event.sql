-- event: the event log: append, read, streams, snapshots.

-- name: append_known
-- Whether an append has happened before.
-- params: p_stream, p_ids, p_types, p_payloads of the call; the stream is locked
-- returns: answer NULL: none of the ids is known; 2 all are in the stream in this order and with this content, first_version is that
--   of the first; 4 anything else
-- tables: event (read)
CREATE OR REPLACE FUNCTION pawl_internal.append_known(
    p_stream text, p_ids uuid[], p_types text[], p_payloads json[], OUT answer smallint, OUT first_version bigint)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_known record;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM unnest(p_ids) AS u(id) JOIN pawl_internal.event e ON e.id = u.id) THEN
        RETURN;
    END IF;
    SELECT count(*) AS count, min(e.version - u.n) AS low, max(e.version - u.n) AS high,
           bool_and(e.stream = p_stream AND e.type = u.type AND e.payload::text = u.payload::text) AS same
      INTO v_known
      FROM unnest(p_ids, p_types, p_payloads) WITH ORDINALITY AS u(id, type, payload, n) JOIN pawl_internal.event e ON e.id = u.id;
    IF v_known.count = cardinality(p_ids) AND v_known.same AND v_known.low = v_known.high THEN
        answer := :ANSWER_DUPLICATE;
        first_version := v_known.low + 1;
    ELSE
        answer := :ANSWER_CONFLICT;
        first_version := 0;
    END IF;
END
$$;

-- name: append_wake
-- Makes the checkpoints that events of these types ask for, and puts one message for the stream's perspectives.
-- params: p_stream, p_types text[], p_version: the stream's, p_id uuid: of the message (that of the last event), p_now
-- tables: mapping, event_receptor (read), checkpoint (inserted), those of put
-- locks: the new checkpoints
CREATE OR REPLACE FUNCTION pawl_internal.append_wake(p_stream text, p_types text[], p_version bigint, p_id uuid, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM pawl_internal.mapping m WHERE m.type = ANY (p_types)
                  AND NOT EXISTS (SELECT 1 FROM pawl_internal.checkpoint c WHERE c.stream = p_stream AND c.perspective = m.key)) THEN
        INSERT INTO pawl_internal.checkpoint (stream, perspective, due_ms, created_ms, updated_ms)
        SELECT p_stream, m.key, p_now, p_now, p_now FROM pawl_internal.mapping m WHERE m.type = ANY (p_types) GROUP BY m.key ORDER BY m.key
            ON CONFLICT (stream, perspective) DO NOTHING;
    END IF;
    IF EXISTS (SELECT 1 FROM pawl_internal.checkpoint c WHERE c.stream = p_stream) THEN
        PERFORM pawl_internal.put(:KIND_PERSPECTIVE::smallint, ARRAY[p_id], p_streams => ARRAY[p_stream],
                         p_types => ARRAY[E'pawl\056append'],
                         p_payloads => ARRAY[('{"version":' || p_version || '}')::json]);
    END IF;
    -- A worker with receptors on events waits for inbox messages, and feeds the receptors when it is woken.
    IF pg_sequence_last_value('pawl_internal.wait_seq') > p_now AND EXISTS (SELECT 1 FROM pawl_internal.event_receptor) THEN
        PERFORM pawl_internal.put_wake(:KIND_INBOX::smallint, p_now);
    END IF;
END
$$;

-- name: event_rows_typed
-- Takes the place of event_rows in a statement that names its parameter nowhere else: no JSON is made and read again.
-- params: events: the parameter of the statement
-- returns: rows in the order in which they are to be applied
-- LANGUAGE sql without settings, so that it is inlined into the statement; every name is qualified.
-- search_path: the caller's
CREATE OR REPLACE FUNCTION pawl_internal.event_rows_typed(events pawl_internal.event_row[]) RETURNS TABLE (
    stream text, version bigint, id uuid, type text, payload jsonb, metadata jsonb, correlation_id uuid, causation_id uuid,
    traceparent text, appended_ms bigint, replay boolean)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 100 AS $$
    SELECT r.stream, r.version, r.id, r.type, r.payload::pg_catalog.jsonb, r.metadata::pg_catalog.jsonb, r.correlation_id,
           r.causation_id, r.traceparent, r.appended_ms, r.replay
      FROM pg_catalog.unnest(events) AS r
$$;

-- name: events_all
-- Events of all streams in the order of their positions, or backward.
-- params: p_from bigint: first position, 0 = the end that is read from; p_as_of_ms 0 = any
-- returns: rows
-- tables: position, event (read)
CREATE OR REPLACE FUNCTION pawl_internal.events_all(p_from bigint, p_backward boolean, p_as_of_ms bigint, p_limit integer) RETURNS TABLE (
    stream text, version bigint, "position" bigint, {{types event}})
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_from bigint;
BEGIN
    PERFORM pawl_internal.refuse_range('limit', p_limit, 0, 1000000);
    IF p_backward THEN
        RETURN QUERY SELECT e.stream, e.version, p.position + e.version - p.version, {{e.event}}
                       FROM (SELECT q.* FROM pawl_internal.position q
                              WHERE (p_from = 0 OR q.position <= p_from) AND (p_as_of_ms = 0 OR q.appended_ms <= p_as_of_ms)
                              ORDER BY q.position DESC LIMIT p_limit) p
                       JOIN pawl_internal.event e ON e.stream = p.stream AND e.version BETWEEN p.version AND p.version + p.count - 1
                      WHERE p_from = 0 OR p.position + e.version - p.version <= p_from
                      ORDER BY 3 DESC LIMIT p_limit;
        RETURN;
    END IF;
    -- The append that the first position lies in may begin before it.
    SELECT coalesce(max(q.position), 0) INTO v_from FROM pawl_internal.position q WHERE q.position <= p_from;
    RETURN QUERY SELECT e.stream, e.version, p.position + e.version - p.version, {{e.event}}
                   FROM (SELECT q.* FROM pawl_internal.position q
                          WHERE q.position >= v_from AND (p_as_of_ms = 0 OR q.appended_ms <= p_as_of_ms)
                          ORDER BY q.position LIMIT p_limit + 1) p
                   JOIN pawl_internal.event e ON e.stream = p.stream AND e.version BETWEEN p.version AND p.version + p.count - 1
                  WHERE p.position + e.version - p.version >= p_from
                  ORDER BY 3 LIMIT p_limit;
END
$$;

-- name: events_append
-- Appends events to one stream, all or none, with versions that follow its last one.
-- params: p_expected: -1 any, 0 the stream must not be there, n its version; one array member per event (arrays that are all
--   absent may be NULL); p_publish: 1 also an outbox message; p_ids_given: ids came from the caller and may be known
-- returns: answer 1 applied, 2 duplicate: the same call has happened, 4 conflict; the versions of the last and of the first event of
--   the call (conflict: the stream's version, 0); id_known: the conflict is about an id, not about the version
-- tables: stream, event, appended (inserted), checkpoint (inserted), type_seen, mapping; those of put
-- locks: the mappings (shared, until the transaction ends), the stream
CREATE OR REPLACE FUNCTION pawl_internal.events_append(
    p_stream text, p_expected bigint, p_ids uuid[], p_types text[], p_payloads json[], p_metadata json[],
    p_correlation_ids uuid[], p_causation_ids uuid[], p_traceparents text[], p_publish integer[], p_topics text[],
    p_ids_given boolean, OUT answer smallint, OUT version bigint, OUT first_version bigint, OUT id_known boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_count integer := cardinality(p_ids);
    v_xid xid8;
    v_now bigint;
    v_head bigint;
    v_type text;
BEGIN
    {{items p_types, p_payloads*, p_ids?, p_metadata?, p_correlation_ids?, p_causation_ids?, p_traceparents?, p_publish?, p_topics?}}
    id_known := false;
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('mappings of pawl.', 0));
    v_xid := pg_current_xact_id(); -- before the number is drawn: events_stamp relies on it
    SELECT CASE WHEN s.test_now_ms <> 0 THEN s.test_now_ms ELSE (extract(epoch FROM clock_timestamp()) * 1000)::bigint END
      INTO v_now FROM pawl_internal.settings s;
    LOOP
        SELECT s.version INTO v_head FROM pawl_internal.stream s WHERE s.stream = p_stream FOR NO KEY UPDATE;
        v_head := coalesce(v_head, 0);
        IF p_ids_given THEN
            SELECT k.answer, k.first_version INTO answer, first_version FROM pawl_internal.append_known(p_stream, p_ids, p_types, p_payloads) k;
            IF answer IS NOT NULL THEN
                id_known := answer = :ANSWER_CONFLICT;
                version := CASE WHEN id_known THEN v_head ELSE first_version + v_count - 1 END;
                RETURN;
            END IF;
        END IF;
        IF p_expected <> -1 AND p_expected <> v_head THEN
            answer := :ANSWER_CONFLICT;
            version := v_head;
            first_version := 0;
            RETURN;
        END IF;
        IF v_head > 0 THEN
            UPDATE pawl_internal.stream s SET version = s.version + v_count, updated_ms = v_now WHERE s.stream = p_stream;
            EXIT;
        END IF;
        INSERT INTO pawl_internal.stream (stream, version, created_ms, updated_ms) VALUES (p_stream, v_count, v_now, v_now)
            ON CONFLICT (stream) DO NOTHING;
        EXIT WHEN FOUND; -- otherwise another transaction made it meanwhile: look again
    END LOOP;
    answer := :ANSWER_APPLIED;
    first_version := v_head + 1;
    version := v_head + v_count;
    IF v_count = 1 THEN
        INSERT INTO pawl_internal.event (stream, version, {{event}})
        VALUES (p_stream, v_head + 1, p_ids[1], p_types[1], p_payloads[1], p_metadata[1], p_correlation_ids[1],
                p_causation_ids[1], p_traceparents[1], v_now);
    ELSE
        INSERT INTO pawl_internal.event (stream, version, {{event}})
        SELECT p_stream, v_head + u.n, u.id, u.type, u.payload, u.metadata, u.correlation_id, u.causation_id, u.traceparent, v_now
          FROM unnest(p_ids, p_types, p_payloads, p_metadata, p_correlation_ids, p_causation_ids, p_traceparents)
               WITH ORDINALITY AS u(id, type, payload, metadata, correlation_id, causation_id, traceparent, n);
    END IF;
    INSERT INTO pawl_internal.appended (xid, seq, stream, version, count, appended_ms)
    VALUES (v_xid, nextval('pawl_internal.append_seq'), p_stream, v_head + 1, v_count, v_now);
    FOR v_type IN SELECT DISTINCT t.type COLLATE "C" FROM unnest(p_types) AS t(type)
                   WHERE NOT EXISTS (SELECT 1 FROM pawl_internal.type_seen k WHERE k.type = t.type) ORDER BY 1 LOOP
        PERFORM pawl_internal.type_resolve(v_type);
    END LOOP;
    PERFORM pawl_internal.append_wake(p_stream, p_types, version, p_ids[v_count], v_now);
    IF 1 = ANY (p_publish) THEN
        PERFORM pawl_internal.put(:KIND_OUTBOX::smallint, array_agg(u.id ORDER BY u.n), p_streams => array_agg(p_stream ORDER BY u.n),
                         p_topics => array_agg(u.topic ORDER BY u.n), p_types => array_agg(u.type ORDER BY u.n),
                         p_payloads => array_agg(u.payload ORDER BY u.n), p_headers => array_agg(u.metadata ORDER BY u.n),
                         p_correlation_ids => array_agg(u.correlation_id ORDER BY u.n),
                         p_causation_ids => array_agg(u.causation_id ORDER BY u.n),
                         p_traceparents => array_agg(u.traceparent ORDER BY u.n))
           FROM unnest(p_ids, p_types, p_payloads, p_metadata, p_correlation_ids, p_causation_ids, p_traceparents, p_publish,
                       p_topics) WITH ORDINALITY
                AS u(id, type, payload, metadata, correlation_id, causation_id, traceparent, publish, topic, n)
          WHERE u.publish = 1;
    END IF;
END
$$;

-- name: events_head
-- The version of a stream, or the last position given.
-- params: p_stream text; NULL: everything
-- returns: bigint, 0 when there is none
-- tables: stream, stamper (read)
CREATE OR REPLACE FUNCTION pawl_internal.events_head(p_stream text) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    IF p_stream IS NULL THEN
        RETURN (SELECT s.position FROM pawl_internal.stamper s);
    END IF;
    RETURN coalesce((SELECT s.version FROM pawl_internal.stream s WHERE s.stream = p_stream), 0);
END
$$;

-- name: events_read
-- Events of one stream in the order of their versions, or backward.
-- params: p_from bigint: first version, 0 = the end that is read from; p_as_of_ms 0 = any; p_as_of_event NULL = any
-- returns: rows; position is always 0
-- raises: PW002 the stream has no event of that id
-- tables: event (read)
CREATE OR REPLACE FUNCTION pawl_internal.events_read(
    p_stream text, p_from bigint, p_backward boolean, p_as_of_ms bigint, p_as_of_event uuid, p_limit integer) RETURNS TABLE (
    stream text, version bigint, "position" bigint, {{types event}})
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_last bigint := 9223372036854775807;
BEGIN
    IF p_as_of_event IS NOT NULL THEN
        SELECT e.version INTO v_last FROM pawl_internal.event e WHERE e.id = p_as_of_event AND e.stream = p_stream;
        IF NOT FOUND THEN
            RAISE EXCEPTION USING ERRCODE = 'PW002', MESSAGE = format('stream %s has no event %s', p_stream, p_as_of_event);
        END IF;
    END IF;
    IF p_backward THEN
        RETURN QUERY SELECT e.stream, e.version, 0::bigint, {{e.event}}
                       FROM pawl_internal.event e
                      WHERE e.stream = p_stream AND e.version <= least(v_last, coalesce(nullif(p_from, 0), v_last))
                        AND (p_as_of_ms = 0 OR e.appended_ms <= p_as_of_ms)
                      ORDER BY e.version DESC LIMIT p_limit;
    ELSE
        RETURN QUERY SELECT e.stream, e.version, 0::bigint, {{e.event}}
                       FROM pawl_internal.event e
                      WHERE e.stream = p_stream AND e.version >= p_from AND e.version <= v_last
                        AND (p_as_of_ms = 0 OR e.appended_ms <= p_as_of_ms)
                      ORDER BY e.version LIMIT p_limit;
    END IF;
END
$$;

-- name: events_stamp
-- Gives positions to events that were committed since the last pass.
-- params: p_limit integer: the most appends to take
-- returns: how many events got one; the last position given
-- tables: stamper, appended (deleted), position (inserted), event_type (updated), perspective_tally (folded)
-- locks: the stamper's row: one pass at a time; a caller that finds it locked returns at once
-- What the last pass could not see are the transactions that were open in its snapshot and those not older than its xmax;
-- rows carry their transaction's id, so nothing else is read and an open transaction costs one entry (docs/decisions/0004-positions.md).
CREATE OR REPLACE FUNCTION pawl_internal.events_stamp(p_limit integer, OUT stamped bigint, OUT last_position bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_stamper record;
    v_pass record;
BEGIN
    stamped := 0;
    SELECT s.position, s.seen_xmax, s.open_xids INTO v_stamper FROM pawl_internal.stamper s;
    last_position := v_stamper.position;
    -- Mostly there is nothing to do: then nothing is locked or written.
    IF v_stamper.seen_xmax <= pg_snapshot_xmax(pg_current_snapshot())
       AND NOT EXISTS (SELECT 1 FROM pawl_internal.appended a WHERE a.xid >= v_stamper.seen_xmax)
       AND NOT EXISTS (SELECT 1 FROM unnest(v_stamper.open_xids) AS o(xid) JOIN pawl_internal.appended a ON a.xid = o.xid) THEN
        RETURN;
    END IF;
    SELECT s.position, s.seen_xmax, s.open_xids INTO v_stamper FROM pawl_internal.stamper s FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    last_position := v_stamper.position;
    -- Restored into a cluster that has counted less far: its transactions look old, so look at everything once.
    IF v_stamper.seen_xmax > pg_snapshot_xmax(pg_current_snapshot()) THEN
        v_stamper.seen_xmax := '0';
    END IF;
    WITH now AS MATERIALIZED (SELECT pg_current_snapshot() AS snapshot),
    found AS MATERIALIZED (
        SELECT a.xid, a.seq FROM pawl_internal.appended a WHERE a.xid >= v_stamper.seen_xmax
        UNION ALL
        SELECT a.xid, a.seq FROM unnest(v_stamper.open_xids) AS o(xid) JOIN pawl_internal.appended a ON a.xid = o.xid
         WHERE o.xid < v_stamper.seen_xmax
        ORDER BY seq LIMIT p_limit),
    gone AS (
        DELETE FROM pawl_internal.appended a USING found f WHERE a.xid = f.xid AND a.seq = f.seq
        RETURNING a.seq, a.stream, a.version, a.count, a.appended_ms),
    placed AS (
        INSERT INTO pawl_internal.position (position, stream, version, count, appended_ms)
        SELECT v_stamper.position + 1 + sum(g.count) OVER (ORDER BY g.seq) - g.count, g.stream, g.version, g.count, g.appended_ms
          FROM gone g ORDER BY g.seq),
    types AS (
        SELECT e.type, count(*) AS events
          FROM gone g JOIN pawl_internal.event e ON e.stream = g.stream AND e.version BETWEEN g.version AND g.version + g.count - 1
         GROUP BY e.type ORDER BY e.type),
    counted AS (
        INSERT INTO pawl_internal.event_type AS k (type, events) SELECT t.type, t.events FROM types t
            ON CONFLICT (type) DO UPDATE SET events = k.events + excluded.events)
    SELECT n.snapshot, (SELECT count(*) FROM gone) AS appends, (SELECT coalesce(sum(g.count), 0) FROM gone g) AS events
      INTO v_pass FROM now n;
    stamped := v_pass.events;
    last_position := v_stamper.position + v_pass.events;
    IF v_pass.appends >= p_limit THEN
        UPDATE pawl_internal.stamper s SET position = last_position; -- there may be more: look at the same again
    ELSE
        UPDATE pawl_internal.stamper s SET position = last_position, seen_xmax = pg_snapshot_xmax(v_pass.snapshot),
               open_xids = ARRAY(SELECT pg_snapshot_xip(v_pass.snapshot))
         WHERE v_pass.appends > 0 OR s.seen_xmax <> pg_snapshot_xmax(v_pass.snapshot);
    END IF;
    IF (SELECT count(*) FROM (SELECT 1 FROM pawl_internal.perspective_tally LIMIT 2000) t) = 2000 THEN
        PERFORM pawl_internal.perspective_tally_fold();
    END IF;
END
$$;

-- name: snapshot_get
-- The newest kept state of a stream.
-- params: p_stream, p_name, p_version_max: 0 = any
-- returns: one row, or none
-- tables: snapshot (read)
CREATE OR REPLACE FUNCTION pawl_internal.snapshot_get(p_stream text, p_name text, p_version_max bigint) RETURNS TABLE (
    stream text, name text, version bigint, state json, made_ms bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT n.stream, n.name, n.version, n.state, n.made_ms FROM pawl_internal.snapshot n
     WHERE n.stream = p_stream AND n.name = p_name AND (p_version_max = 0 OR n.version <= p_version_max)
     ORDER BY n.version DESC LIMIT 1;
END
$$;

-- name: snapshot_put
-- Keeps a folded state of a stream; the last two are kept.
-- params: p_stream, p_name, p_version, p_state json
-- returns: answer 1 applied, 3 stale: there is a newer or equal one, 4 conflict: the stream has no such version
-- tables: snapshot, stream (read)
-- locks: the snapshots of the pair
CREATE OR REPLACE FUNCTION pawl_internal.snapshot_put(p_stream text, p_name text, p_version bigint, p_state json) RETURNS smallint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
BEGIN
    {{needs p_version}}
    IF p_version > coalesce((SELECT s.version FROM pawl_internal.stream s WHERE s.stream = p_stream), 0) THEN
        RETURN :ANSWER_CONFLICT;
    END IF;
    IF EXISTS (SELECT 1 FROM pawl_internal.snapshot n WHERE n.stream = p_stream AND n.name = p_name AND n.version >= p_version) THEN
        RETURN :ANSWER_STALE;
    END IF;
    INSERT INTO pawl_internal.snapshot (stream, name, version, state, made_ms) VALUES (p_stream, p_name, p_version, p_state, v_now)
        ON CONFLICT DO NOTHING;
    DELETE FROM pawl_internal.snapshot n
     WHERE n.stream = p_stream AND n.name = p_name
       AND n.version < (SELECT min(k.version) FROM (SELECT l.version FROM pawl_internal.snapshot l WHERE l.stream = p_stream AND l.name = p_name
                                                     ORDER BY l.version DESC LIMIT 2) k);
    RETURN :ANSWER_APPLIED;
END
$$;
