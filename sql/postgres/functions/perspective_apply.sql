-- perspective_apply: runs a perspective's SQL on the next events of granted streams and moves their checkpoints, in one transaction.
-- params: p_key text, p_token bigint, p_streams text[], p_batch integer (0: the perspective's)
-- returns: per stream, in the order of the call: answer 1 applied, 3 stale, 5 an event failed; version, events given, more,
--          outcome (0; 1 another attempt; 2 stopped), failed_version, error
-- raises: PW001 the perspective has no SQL; PW002 it is not registered
-- tables: those of apply_begin and apply_end, and what the statement names
-- locks: those of apply_begin, and the statement's
-- Runs with the rights and the search_path of the caller, as the statement must: no SECURITY DEFINER, every name qualified.
CREATE OR REPLACE FUNCTION pawl.perspective_apply(p_key text, p_token bigint, p_streams text[], p_batch integer) RETURNS TABLE (
    answer smallint, version bigint, events bigint, more boolean, outcome smallint, failed_version bigint, error text)
LANGUAGE plpgsql VOLATILE
AS $$
#variable_conflict use_column
DECLARE
    v_sql text := pawl.apply_target(p_key, false);
    v_cut record;
    v_one record;
    v_events json;
    v_versions bigint[];
    v_counts bigint[];
    v_errors text[];
    v_failed bigint[];
    v_held text[];
    v_all boolean := true;
BEGIN
    SELECT pg_catalog.array_agg(b.stream) AS streams, pg_catalog.array_agg(b.held) AS held, pg_catalog.array_agg(b.from_version) AS froms,
           pg_catalog.array_agg(b.through_version) AS throughs, pg_catalog.array_agg(b.replay_to) AS replays,
           pg_catalog.array_agg(b.events) AS counts
      INTO v_cut FROM pawl.apply_begin(p_key, p_token, p_streams, p_batch) b;
    IF v_sql IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = pg_catalog.format('perspective "%s" has no SQL to run', p_key);
    END IF;
    SELECT pg_catalog.json_agg(pg_catalog.row_to_json(r) ORDER BY r.n, r.version) INTO v_events
      FROM pawl.apply_rows(p_key, v_cut.streams, v_cut.froms, v_cut.throughs, v_cut.replays) r;
    v_versions := v_cut.throughs;
    v_errors := pg_catalog.array_fill(NULL::text, ARRAY[pg_catalog.cardinality(p_streams)]);
    v_failed := pg_catalog.array_fill(0::bigint, ARRAY[pg_catalog.cardinality(p_streams)]);
    v_counts := v_cut.counts;
    IF v_events IS NOT NULL THEN
        BEGIN
            EXECUTE v_sql USING v_events;
        EXCEPTION
            WHEN deadlock_detected OR serialization_failure OR lock_not_available THEN
                RAISE;
            WHEN OTHERS THEN
                v_all := false;
        END;
    END IF;
    IF NOT v_all THEN
        FOR i IN 1 .. pg_catalog.cardinality(p_streams) LOOP
            SELECT s.version, s.events, s.failed_version, s.error INTO v_one
              FROM pawl.apply_stream(v_sql, v_events, i, v_cut.froms[i], v_cut.throughs[i]) s;
            v_versions[i] := v_one.version;
            v_counts[i] := v_one.events;
            v_failed[i] := v_one.failed_version;
            v_errors[i] := v_one.error;
        END LOOP;
    END IF;
    v_held := ARRAY(SELECT u.stream FROM unnest(v_cut.streams, v_cut.held) WITH ORDINALITY AS u(stream, held, n) WHERE u.held ORDER BY u.n);
    RETURN QUERY
    WITH moved AS MATERIALIZED (
        SELECT e.more, e.outcome, e.n FROM pawl.apply_end(p_key, p_token, v_held,
            ARRAY(SELECT u.x FROM unnest(v_versions, v_cut.held) WITH ORDINALITY AS u(x, held, n) WHERE u.held ORDER BY u.n),
            ARRAY(SELECT u.x FROM unnest(v_errors, v_cut.held) WITH ORDINALITY AS u(x, held, n) WHERE u.held ORDER BY u.n),
            ARRAY(SELECT u.x FROM unnest(v_failed, v_cut.held) WITH ORDINALITY AS u(x, held, n) WHERE u.held ORDER BY u.n))
            WITH ORDINALITY AS e(more, outcome, n))
    SELECT CASE WHEN NOT u.held THEN 3 WHEN u.error IS NOT NULL THEN 5 ELSE 1 END::smallint, u.version, u.events,
           coalesce(m.more, false), coalesce(m.outcome, 0::smallint), u.failed, u.error
      FROM (SELECT x.*, pg_catalog.sum(CASE WHEN x.held THEN 1 ELSE 0 END) OVER (ORDER BY x.n) AS place
              FROM unnest(v_cut.held, v_versions, v_counts, v_failed, v_errors) WITH ORDINALITY
                   AS x(held, version, events, failed, error, n)) u
      LEFT JOIN moved m ON u.held AND m.n = u.place
     ORDER BY u.n;
END
$$;
