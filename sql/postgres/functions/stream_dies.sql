-- stream_dies: what becomes of a stream when one of its messages has become a dead letter.
-- params: p_kind, p_lane, p_token, p_key, p_seq: the dead letter, p_policy smallint (1 block, 2 skip, 3 park), p_now
-- returns: aside_delta, dead_delta: what the tally must count
-- tables: message, aside, dead, hold, claim
-- locks: the parts of the token (held by the caller), the hold
CREATE OR REPLACE FUNCTION pawl.stream_dies(
    p_kind smallint, p_lane integer, p_token bigint, p_key text, p_seq bigint, p_policy smallint, p_now bigint,
    OUT aside_delta bigint, OUT dead_delta bigint)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_parked bigint[];
BEGIN
    aside_delta := 0;
    dead_delta := 0;
    -- A message without a stream has nobody behind it.
    IF p_policy = 2 OR starts_with(p_key, chr(1)) THEN
        PERFORM pawl.hold_settle(p_kind, p_lane, ARRAY[p_key]);
        RETURN;
    END IF;
    aside_delta := pawl.stream_behind(p_kind, p_lane, p_token, p_key, p_seq, false, p_now);
    PERFORM pawl.hold_stop(p_kind, p_lane, p_key, CASE WHEN p_policy = 1 THEN 2 ELSE 3 END::smallint, p_seq);
    IF p_policy = 3 THEN
        v_parked := ARRAY(SELECT a.seq FROM pawl.aside a
                           WHERE a.kind = p_kind AND a.key = p_key AND a.seq > p_seq ORDER BY a.seq);
        IF cardinality(v_parked) > 0 THEN
            dead_delta := pawl.aside_to_dead(p_kind, v_parked, 4::smallint, NULL, p_now);
            aside_delta := aside_delta - dead_delta;
        END IF;
    END IF;
END
$$;
