-- perspective_register: registers a version of a perspective and maps the known event types to it.
-- params: p_modes, p_texts: its patterns; the rest as in store/events.h (0 and NULL: the defaults)
-- returns: answer 1 applied, 2 duplicate, 4 conflict: the version is another one; its state; whether the backfill is over
-- raises: PW001 a pattern is wrong; PW005 an append stays open
-- tables: perspective, pattern, mapping, type_seen
-- locks: the mappings, exclusively
CREATE OR REPLACE FUNCTION pawl.perspective_register(
    p_name text, p_version integer, p_modes smallint[], p_texts text[], p_run smallint, p_target text, p_clear text,
    p_batch integer, p_max_attempts integer, p_policy smallint, p_wait_ms integer,
    OUT answer smallint, OUT state smallint, OUT backfilled boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_key text := p_name || '@' || p_version;
    v_now bigint;
    v_max integer;
    v_old record;
    v_same boolean;
BEGIN
    PERFORM pawl.pattern_regex(u.mode, u.text) FROM unnest(p_modes, p_texts) AS u(mode, text);
    PERFORM pawl.mapping_lock(p_wait_ms);
    v_now := pawl.now_ms();
    v_max := coalesce(nullif(p_max_attempts, 0), (SELECT s.max_attempts FROM pawl.settings s));
    SELECT * INTO v_old FROM pawl.perspective p WHERE p.key = v_key FOR UPDATE;
    IF FOUND THEN
        v_same := v_old.run = p_run AND v_old.target IS NOT DISTINCT FROM p_target AND v_old.clear IS NOT DISTINCT FROM p_clear
            AND v_old.batch = coalesce(nullif(p_batch, 0), 100) AND v_old.policy = coalesce(nullif(p_policy, 0), 1)
            AND (p_max_attempts = 0 OR v_old.max_attempts = p_max_attempts)
            AND ARRAY(SELECT t.mode || ' ' || t.text FROM pawl.pattern t WHERE t.key = v_key ORDER BY t.n)
                = ARRAY(SELECT u.mode || ' ' || u.text FROM unnest(p_modes, p_texts) WITH ORDINALITY AS u(mode, text, n) ORDER BY u.n);
        IF v_old.state IN (1, 2) OR NOT v_same THEN
            answer := CASE WHEN v_same THEN 2 ELSE 4 END;
            state := v_old.state;
            backfilled := v_old.backfilled;
            RETURN;
        END IF;
    END IF;
    state := CASE WHEN EXISTS (SELECT 1 FROM pawl.perspective p WHERE p.name = p_name AND p.state = 1) THEN 2 ELSE 1 END;
    INSERT INTO pawl.perspective (key, name, version, state, run, target, clear, batch, max_attempts, policy, registered_ms)
    VALUES (v_key, p_name, p_version, state, p_run, p_target, p_clear, coalesce(nullif(p_batch, 0), 100), v_max,
            coalesce(nullif(p_policy, 0), 1), v_now)
        ON CONFLICT (key) DO UPDATE
           SET state = excluded.state, paused = false, backfilled = false, backfill_after = NULL, position = 0;
    DELETE FROM pawl.pattern t WHERE t.key = v_key;
    INSERT INTO pawl.pattern (key, n, mode, text, regex)
    SELECT v_key, u.n, u.mode, u.text, pawl.pattern_regex(u.mode, u.text)
      FROM unnest(p_modes, p_texts) WITH ORDINALITY AS u(mode, text, n);
    INSERT INTO pawl.mapping (type, key)
    SELECT DISTINCT k.type, v_key FROM pawl.type_seen k JOIN pawl.pattern t ON t.key = v_key
     WHERE pawl.pattern_matches(t.regex, k.type);
    answer := 1;
    backfilled := false;
END
$$;
