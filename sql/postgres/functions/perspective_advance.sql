-- perspective_advance: takes what of one perspective is due, or behind in named streams, runs its SQL on the next events and moves the
--                      checkpoints, in one transaction: nothing is granted and nothing is left to be given back.
-- params: p_instance uuid, p_key text; p_streams text[]: those of claimed messages, empty: whatever is due; p_mine text[]: with
--         streams, keys whose checkpoints the caller looks after himself; p_batch integer (0: the perspective's)
-- returns: a row per stream that was taken: answer 1 applied, 5 an event failed; version, events given, more (it is due at once),
--          outcome (0; 1 another attempt; 2 stopped), failed_version, error. A row with answer 0 names a stream that a transaction is at
-- raises: PW001 the perspective has no SQL; PW002 it is not registered; PW004 the instance is not active
-- tables: those of advance_take, advance_cut and advance_end, and what the statement names
-- locks: those of advance_take, and the statement's
-- Runs with the rights and the search_path of the caller, as the statement must: no SECURITY DEFINER, every name qualified.
CREATE OR REPLACE FUNCTION pawl.perspective_advance(
    p_instance uuid, p_key text, p_streams text[], p_mine text[], p_batch integer) RETURNS TABLE (
    stream text, answer smallint, version bigint, events bigint, more boolean, outcome smallint, failed_version bigint, error text)
LANGUAGE plpgsql VOLATILE
AS $$
#variable_conflict use_column
DECLARE
    v_sql text := pawl.apply_target(p_key, false);
    -- Where the events are only ever taken as rows they are given as such.
    v_typed_sql text := pg_catalog.regexp_replace(v_sql, '\yevent_rows(\s*\(\s*\$1\s*\))', 'event_rows_typed\1', 'g');
    v_typed boolean := pg_catalog.strpos(pg_catalog.regexp_replace(v_sql, '\yevent_rows\s*\(\s*\$1\s*\)', '', 'g'), '$1') OPERATOR(pg_catalog.=) 0;
    v_take record;
    v_cut record;
    v_one record;
    v_versions bigint[];
    v_errors text[];
    v_failed bigint[];
    v_all boolean := true;
BEGIN
    SELECT * INTO v_take FROM pawl.advance_take(p_instance, p_key, p_streams, p_mine, p_batch);
    IF v_sql IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = pg_catalog.format('perspective "%s" has no SQL to run', p_key);
    END IF;
    RETURN QUERY SELECT b.stream, 0::smallint, 0::bigint, 0::bigint, false, 0::smallint, 0::bigint, NULL::text
                   FROM pg_catalog.unnest(v_take.busy) AS b(stream);
    IF v_take.token OPERATOR(pg_catalog.=) 0 THEN
        RETURN;
    END IF;
    SELECT * INTO v_cut
      FROM pawl.advance_cut(p_key, v_take.streams, v_take.froms, v_take.heads, v_take.replays, v_take.rooms, v_typed);
    v_versions := v_cut.throughs;
    v_errors := pg_catalog.array_fill(NULL::text, ARRAY[pg_catalog.cardinality(v_take.streams)]);
    v_failed := pg_catalog.array_fill(0::bigint, ARRAY[pg_catalog.cardinality(v_take.streams)]);
    BEGIN
        IF v_cut.typed IS NOT NULL THEN
            EXECUTE v_typed_sql USING v_cut.typed;
        ELSIF v_cut.events IS NOT NULL THEN
            EXECUTE v_sql USING v_cut.events;
        END IF;
    EXCEPTION
        WHEN deadlock_detected OR serialization_failure OR lock_not_available THEN
            RAISE;
        WHEN OTHERS THEN
            v_all := false;
    END;
    IF NOT v_all THEN
        SELECT * INTO v_cut
          FROM pawl.advance_cut(p_key, v_take.streams, v_take.froms, v_take.heads, v_take.replays, v_take.rooms, false);
        FOR i IN 1 .. pg_catalog.cardinality(v_take.streams) LOOP
            SELECT s.version, s.events, s.failed_version, s.error INTO v_one
              FROM pawl.apply_stream(v_sql, v_cut.events, i, v_take.froms[i], v_versions[i]) s;
            v_versions[i] := v_one.version;
            v_cut.counts[i] := v_one.events;
            v_failed[i] := v_one.failed_version;
            v_errors[i] := v_one.error;
        END LOOP;
    END IF;
    RETURN QUERY
    SELECT x.stream, CASE WHEN x.error IS NOT NULL THEN 5 ELSE 1 END::smallint, x.version, x.events, x.more, x.outcome, x.failed, x.error
      FROM ROWS FROM (
               pg_catalog.unnest(v_take.streams), pg_catalog.unnest(v_versions), pg_catalog.unnest(v_cut.counts), pg_catalog.unnest(v_failed),
               pg_catalog.unnest(v_errors),
               pawl.advance_end(p_key, v_take.token, v_take.streams, v_take.froms, v_versions, v_take.heads, v_errors, v_failed,
                                (SELECT pg_catalog.sum(c) FROM pg_catalog.unnest(v_cut.counts) AS c)::bigint)) WITH ORDINALITY
           AS x(stream, version, events, failed, error, more, outcome, n)
     ORDER BY x.n;
END
$$;
