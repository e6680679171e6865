-- events_append: appends events to one stream, all or none, with versions that follow its last one.
-- params: p_expected: -1 any, 0 the stream must not be there, n its version; one array member per event (arrays that are all
--         absent may be NULL); p_publish: 1 also an outbox message; p_ids_given: ids came from the caller and may be known
-- returns: answer 1 applied, 2 duplicate: the same call has happened, 4 conflict; the versions of the last and of the first event of
--          the call (conflict: the stream's version, 0); id_known: the conflict is about an id, not about the version
-- tables: stream, event, appended (inserted), checkpoint (inserted), type_seen, mapping; those of put
-- locks: the mappings (shared, until the transaction ends), the stream
CREATE OR REPLACE FUNCTION pawl.events_append(
    p_stream text, p_expected bigint, p_ids uuid[], p_types text[], p_payloads json[], p_metadata json[],
    p_correlation_ids uuid[], p_causation_ids uuid[], p_traceparents text[], p_publish integer[], p_topics text[],
    p_ids_given boolean, OUT answer smallint, OUT version bigint, OUT first_version bigint, OUT id_known boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_count integer := cardinality(p_ids);
    v_xid xid8;
    v_now bigint;
    v_head bigint;
    v_type text;
BEGIN
    id_known := false;
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('mappings of pawl.', 0));
    v_xid := pg_current_xact_id(); -- before the number is drawn: whoever gives positions relies on it
    SELECT CASE WHEN s.test_now_ms <> 0 THEN s.test_now_ms ELSE (extract(epoch FROM clock_timestamp()) * 1000)::bigint END
      INTO v_now FROM pawl.settings s;
    LOOP
        SELECT s.version INTO v_head FROM pawl.stream s WHERE s.stream = p_stream FOR NO KEY UPDATE;
        v_head := coalesce(v_head, 0);
        IF p_ids_given THEN
            SELECT k.answer, k.first_version INTO answer, first_version FROM pawl.append_known(p_stream, p_ids, p_types, p_payloads) k;
            IF answer IS NOT NULL THEN
                id_known := answer = 4;
                version := CASE WHEN id_known THEN v_head ELSE first_version + v_count - 1 END;
                RETURN;
            END IF;
        END IF;
        IF p_expected <> -1 AND p_expected <> v_head THEN
            answer := 4;
            version := v_head;
            first_version := 0;
            RETURN;
        END IF;
        IF v_head > 0 THEN
            UPDATE pawl.stream s SET version = s.version + v_count, updated_ms = v_now WHERE s.stream = p_stream;
            EXIT;
        END IF;
        INSERT INTO pawl.stream (stream, version, created_ms, updated_ms) VALUES (p_stream, v_count, v_now, v_now)
            ON CONFLICT (stream) DO NOTHING;
        EXIT WHEN FOUND; -- otherwise somebody else made it meanwhile: look again
    END LOOP;
    answer := 1;
    first_version := v_head + 1;
    version := v_head + v_count;
    IF v_count = 1 THEN
        INSERT INTO pawl.event (stream, version, id, type, payload, metadata, correlation_id, causation_id, traceparent, appended_ms)
        VALUES (p_stream, v_head + 1, p_ids[1], p_types[1], p_payloads[1], p_metadata[1], p_correlation_ids[1],
                p_causation_ids[1], p_traceparents[1], v_now);
    ELSE
        INSERT INTO pawl.event (stream, version, id, type, payload, metadata, correlation_id, causation_id, traceparent, appended_ms)
        SELECT p_stream, v_head + u.n, u.id, u.type, u.payload, u.metadata, u.correlation_id, u.causation_id, u.traceparent, v_now
          FROM unnest(p_ids, p_types, p_payloads, p_metadata, p_correlation_ids, p_causation_ids, p_traceparents)
               WITH ORDINALITY AS u(id, type, payload, metadata, correlation_id, causation_id, traceparent, n);
    END IF;
    INSERT INTO pawl.appended (xid, seq, stream, version, count, appended_ms)
    VALUES (v_xid, nextval('pawl.append_seq'), p_stream, v_head + 1, v_count, v_now);
    FOR v_type IN SELECT DISTINCT t.type COLLATE "C" FROM unnest(p_types) AS t(type)
                   WHERE NOT EXISTS (SELECT 1 FROM pawl.type_seen k WHERE k.type = t.type) ORDER BY 1 LOOP
        PERFORM pawl.type_resolve(v_type);
    END LOOP;
    PERFORM pawl.append_wake(p_stream, p_types, version, p_ids[v_count], v_now);
    IF 1 = ANY (p_publish) THEN
        PERFORM pawl.put(1::smallint, array_agg(u.id ORDER BY u.n), array_agg(p_stream ORDER BY u.n),
                         array_agg(u.topic ORDER BY u.n), array_agg(u.type ORDER BY u.n), array_agg(u.payload ORDER BY u.n),
                         array_agg(u.metadata ORDER BY u.n), array_agg(u.correlation_id ORDER BY u.n),
                         array_agg(u.causation_id ORDER BY u.n), array_agg(u.traceparent ORDER BY u.n), NULL, NULL, NULL)
           FROM unnest(p_ids, p_types, p_payloads, p_metadata, p_correlation_ids, p_causation_ids, p_traceparents, p_publish,
                       p_topics) WITH ORDINALITY
                AS u(id, type, payload, metadata, correlation_id, causation_id, traceparent, publish, topic, n)
          WHERE u.publish = 1;
    END IF;
END
$$;
