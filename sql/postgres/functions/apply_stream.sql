-- apply_stream: runs a perspective's SQL on the events of one stream: all of them or, when that fails, one by one up to the failing one.
-- params: p_sql text, p_events json: of the whole batch, p_n integer: which stream, p_from and p_through: its versions
-- returns: the version applied through, events given, and the failing version and its error when one failed
-- tables: what the statement names
-- locks: the statement's
-- Runs with the rights and the search_path of the caller.
CREATE OR REPLACE FUNCTION pawl.apply_stream(
    p_sql text, p_events json, p_n integer, p_from bigint, p_through bigint,
    OUT version bigint, OUT events bigint, OUT failed_version bigint, OUT error text)
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
    v_mine json;
    v_event json;
BEGIN
    version := p_through;
    failed_version := 0;
    SELECT pg_catalog.json_agg(e.value ORDER BY e.ordinality), pg_catalog.count(*) INTO v_mine, events
      FROM pg_catalog.json_array_elements(p_events) WITH ORDINALITY e WHERE (e.value ->> 'n')::integer = p_n;
    IF events = 0 THEN
        RETURN;
    END IF;
    BEGIN
        EXECUTE p_sql USING v_mine;
        RETURN;
    EXCEPTION
        WHEN deadlock_detected OR serialization_failure OR lock_not_available THEN
            RAISE;
        WHEN OTHERS THEN
            error := SQLERRM || ' (SQLSTATE ' || SQLSTATE || ')';
    END;
    version := p_from;
    events := 0;
    FOR v_event IN SELECT e.value FROM pg_catalog.json_array_elements(v_mine) WITH ORDINALITY e ORDER BY e.ordinality LOOP
        failed_version := (v_event ->> 'version')::bigint;
        BEGIN
            EXECUTE p_sql USING pg_catalog.json_build_array(v_event);
        EXCEPTION
            WHEN deadlock_detected OR serialization_failure OR lock_not_available THEN
                RAISE;
            WHEN OTHERS THEN
                error := SQLERRM || ' (SQLSTATE ' || SQLSTATE || ')';
                RETURN;
        END;
        version := failed_version;
        events := events + 1;
    END LOOP;
    -- Each alone went well: only together they failed. That is no reason to stop.
    version := p_through;
    failed_version := 0;
    error := NULL;
END
$$;
