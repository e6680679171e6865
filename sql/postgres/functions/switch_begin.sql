-- switch_begin: holds appends back and waits until a perspective's new version has applied everything.
-- params: p_name text, p_version integer, p_wait_ms integer, p_both boolean: the live version too
-- returns: answer 1 go on, 2 it is live already, 4 behind; behind: streams of the new version; old: key of the live version
-- raises: PW002 there is no such version; PW005 an append stays open
-- tables: perspective, those of perspective_behind (read)
-- locks: the mappings exclusively, the perspectives of the name
CREATE OR REPLACE FUNCTION pawl.switch_begin(
    p_name text, p_version integer, p_wait_ms integer, p_both boolean, OUT answer smallint, OUT behind bigint, OUT old text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_key text := p_name || '@' || p_version;
    v_state smallint;
    v_end timestamptz;
BEGIN
    PERFORM pawl.mapping_lock(5000);
    v_end := clock_timestamp() + make_interval(secs => p_wait_ms / 1000.0);
    SELECT p.state INTO v_state FROM pawl.perspective p WHERE p.key = v_key AND p.state IN (1, 2);
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW002', MESSAGE = format('perspective "%s" is not registered, or not being filled', v_key);
    END IF;
    behind := 0;
    SELECT p.key INTO old FROM pawl.perspective p WHERE p.name = p_name AND p.state = 1;
    IF v_state = 1 THEN
        answer := 2;
        RETURN;
    END IF;
    LOOP
        EXIT WHEN (SELECT p.backfilled FROM pawl.perspective p WHERE p.key = v_key) AND pawl.perspective_behind(v_key, false) = 0
              AND (NOT p_both OR old IS NULL OR pawl.perspective_behind(old, false) = 0);
        EXIT WHEN clock_timestamp() >= v_end;
        PERFORM pg_sleep(0.01);
    END LOOP;
    behind := pawl.perspective_behind(v_key, true);
    answer := CASE WHEN behind = 0 AND (SELECT p.backfilled FROM pawl.perspective p WHERE p.key = v_key)
                    AND (NOT p_both OR old IS NULL OR pawl.perspective_behind(old, true) = 0) THEN 1 ELSE 4 END;
END
$$;
