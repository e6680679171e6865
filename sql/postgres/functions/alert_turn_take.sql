-- alert_turn_take: gives the turn to evaluate the rules, once per interval, to whoever asks first.
-- params: p_interval_ms bigint
-- returns: taken, token (0 when not taken), now_ms, next_ms, window_text
-- tables: alert_turn (updated)
-- locks: the turn
CREATE OR REPLACE FUNCTION pawl.alert_turn_take(
    p_interval_ms bigint, OUT taken boolean, OUT token bigint, OUT now_ms bigint, OUT next_ms bigint, OUT window_text text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_turn pawl.alert_turn%ROWTYPE;
BEGIN
    -- Most who ask are early: they wait for nobody.
    SELECT t.* INTO v_turn FROM pawl.alert_turn t;
    now_ms := pawl.now_ms();
    -- A clock that was set back, or somebody with a longer interval, does not stop the evaluation.
    IF v_turn.next_ms <= now_ms OR v_turn.next_ms > now_ms + 2 * p_interval_ms THEN
        SELECT t.* INTO v_turn FROM pawl.alert_turn t FOR UPDATE;
        now_ms := pawl.now_ms();
    END IF;
    taken := v_turn.next_ms <= now_ms OR v_turn.next_ms > now_ms + 2 * p_interval_ms;
    token := 0;
    next_ms := v_turn.next_ms;
    window_text := v_turn.window_text;
    IF taken THEN
        token := pawl.token_next();
        next_ms := now_ms + p_interval_ms;
        UPDATE pawl.alert_turn t SET token = alert_turn_take.token, next_ms = alert_turn_take.next_ms;
    END IF;
END
$$;
