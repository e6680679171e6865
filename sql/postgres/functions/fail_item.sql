-- fail_item: one failed item goes aside or dies, and its stream waits as its policy says.
-- params: of the item: p_kind, p_token, p_id, p_seq, p_source, p_lane, p_key; p_attempts: with this failure; p_deaths; p_error;
--         p_class; p_delay (-1: backoff); p_policy, p_max_attempts: in force; p_now
-- returns: dead: it became a dead letter; aside_delta, dead_delta: what the tally must count
-- tables: claim, message, aside, dead, hold
-- locks: the parts of the token (held by the caller), the hold
CREATE OR REPLACE FUNCTION pawl.fail_item(
    p_kind smallint, p_token bigint, p_id uuid, p_seq bigint, p_source smallint, p_lane integer, p_key text,
    p_attempts integer, p_deaths integer, p_error text, p_class smallint, p_delay bigint, p_policy smallint,
    p_max_attempts integer, p_now bigint, OUT dead boolean, OUT aside_delta bigint, OUT dead_delta bigint)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_delay bigint := CASE WHEN p_delay >= 0 THEN p_delay ELSE pawl.retry_wait_ms(p_attempts) END;
    v_stream record;
BEGIN
    dead := coalesce(p_class, 1) > 1 OR p_attempts + p_deaths >= p_max_attempts;
    dead_delta := 0;
    aside_delta := CASE WHEN p_source = 1 THEN pawl.message_to_aside(p_kind, p_lane, ARRAY[p_seq], NULL, 1::smallint, p_now)
                        ELSE 0 END;
    UPDATE pawl.aside a SET attempts = p_attempts, losses = 0, reason = 1, error = p_error, scheduled_ms = p_now + v_delay
     WHERE a.kind = p_kind AND a.seq = p_seq;
    PERFORM pawl.claim_leave(p_token, ARRAY[p_seq], ARRAY[p_seq], ARRAY[p_id]);
    IF dead THEN
        dead_delta := pawl.aside_to_dead(p_kind, ARRAY[p_seq], CASE p_class WHEN 2 THEN 2 WHEN 3 THEN 5 ELSE 1 END::smallint, NULL, p_now);
        aside_delta := aside_delta - 1;
        SELECT s.aside_delta, s.dead_delta INTO v_stream
          FROM pawl.stream_dies(p_kind, p_lane, p_token, p_key, p_seq, p_policy, p_now) s;
        aside_delta := aside_delta + v_stream.aside_delta;
        dead_delta := dead_delta + v_stream.dead_delta;
        RETURN;
    END IF;
    IF NOT starts_with(p_key, chr(1)) THEN
        aside_delta := aside_delta + pawl.stream_behind(p_kind, p_lane, p_token, p_key, p_seq, false, p_now);
    END IF;
    PERFORM pawl.hold_settle(p_kind, p_lane, ARRAY[p_key]);
END
$$;
