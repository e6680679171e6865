-- hold_stop: a dead letter stops its stream.
-- params: p_kind smallint, p_lane integer, p_key text, p_state smallint (2 blocked, 3 parked), p_by_seq bigint
-- returns: nothing
-- tables: hold (written)
-- locks: the hold
CREATE OR REPLACE FUNCTION pawl.hold_stop(
    p_kind smallint, p_lane integer, p_key text, p_state smallint, p_by_seq bigint) RETURNS void
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
    INSERT INTO pawl.hold (kind, key, lane, due_ms, state, by_seq) VALUES (p_kind, p_key, p_lane, 0, p_state, p_by_seq)
    ON CONFLICT (kind, key) DO UPDATE SET due_ms = 0, state = EXCLUDED.state, by_seq = EXCLUDED.by_seq
$$;
