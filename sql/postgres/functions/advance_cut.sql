-- advance_cut: the next events of streams whose checkpoints advance_take has locked.
-- params: p_key; per stream p_froms: applied so far, p_heads, p_replays, p_rooms: the most events; p_typed: rows instead of JSON
-- returns: per stream: through: the last version of this batch, counts: its events; the events, streams in the order of the call,
--          as a JSON array (n: which stream) or as rows; NULL: none
-- tables: event, mapping, skip (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.advance_cut(
    p_key text, p_streams text[], p_froms bigint[], p_heads bigint[], p_replays bigint[], p_rooms bigint[], p_typed boolean,
    OUT throughs bigint[], OUT counts bigint[], OUT events json, OUT typed pawl.event_row[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    -- Read behind the heads: an event up to them has brought its type into the mapping.
    v_types text[] := ARRAY(SELECT DISTINCT m.type FROM pawl.mapping m WHERE m.key = p_key LIMIT 17);
    v_few boolean := cardinality(v_types) <= 16;
    v_skips boolean := EXISTS (SELECT 1 FROM pawl.skip k WHERE k.key = p_key);
    v_ns bigint[];
    v_versions bigint[];
    v_rows pawl.event_row[];
BEGIN
    SELECT array_agg(x.n), array_agg((x.event).version), array_agg(x.event) INTO v_ns, v_versions, v_rows
      FROM (SELECT u.n, ROW(e.stream, e.version, e.id, e.type, e.payload, e.metadata, e.correlation_id, e.causation_id, e.traceparent,
                            e.appended_ms, e.version <= u.replay_to)::pawl.event_row AS event
              FROM unnest(p_streams, p_froms, p_heads, p_replays, p_rooms) WITH ORDINALITY AS u(stream, version, head, replay_to, room, n)
             CROSS JOIN LATERAL (
                   SELECT e.* FROM pawl.event e
                    WHERE e.stream = u.stream AND e.version > u.version AND e.version <= u.head
                      AND CASE WHEN v_few THEN e.type = ANY (v_types)
                               ELSE EXISTS (SELECT 1 FROM pawl.mapping m WHERE m.type = e.type AND m.key = p_key) END
                      AND CASE WHEN v_skips THEN NOT EXISTS (SELECT 1 FROM pawl.skip k
                                                              WHERE k.key = p_key AND k.stream = e.stream AND k.version = e.version)
                               ELSE true END
                    ORDER BY e.version LIMIT u.room) e
             ORDER BY u.n, e.version) x;
    IF cardinality(v_ns) = (SELECT sum(u.head - u.version) FROM unnest(p_heads, p_froms) AS u(head, version)) THEN
        throughs := p_heads; -- every event that is behind was taken
        counts := ARRAY(SELECT u.head - u.version FROM unnest(p_heads, p_froms) WITH ORDINALITY AS u(head, version, n) ORDER BY u.n);
    ELSE
        SELECT array_agg(CASE WHEN coalesce(c.count, 0) = u.room THEN c.last ELSE u.head END ORDER BY u.n),
               array_agg(coalesce(c.count, 0) ORDER BY u.n)
          INTO throughs, counts
          FROM unnest(p_heads, p_rooms) WITH ORDINALITY AS u(head, room, n)
          LEFT JOIN (SELECT r.n, count(*) AS count, max(r.version) AS last FROM unnest(v_ns, v_versions) AS r(n, version) GROUP BY r.n) c
            ON c.n = u.n;
    END IF;
    IF p_typed THEN
        typed := v_rows;
    ELSIF v_ns IS NOT NULL THEN
        SELECT json_agg(x) INTO events
          FROM (SELECT r.n, r.stream, r.version, r.id, r.type, r.payload, r.metadata, r.correlation_id, r.causation_id, r.traceparent,
                       r.appended_ms, r.replay
                  FROM ROWS FROM (unnest(v_ns), unnest(v_rows)) WITH ORDINALITY
                       AS r(n, stream, version, id, type, payload, metadata, correlation_id, causation_id, traceparent, appended_ms, replay, k)
                 ORDER BY r.k) x;
    END IF;
END
$$;
