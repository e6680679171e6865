-- advance_begin: what of one perspective is to be applied in this transaction, for a function of the caller.
-- params: as perspective_advance
-- returns: a row per stream that was taken, in order: from_version: applied so far, through_version: the last version of this batch,
--          head of the stream, replay_to, token. A row with taken false names a stream that a transaction is at
-- raises: PW002 the perspective is not registered; PW004 the instance is not active
-- tables: those of advance_take and advance_cut
-- locks: those of advance_take
CREATE OR REPLACE FUNCTION pawl.advance_begin(
    p_instance uuid, p_key text, p_streams text[], p_mine text[], p_batch integer) RETURNS TABLE (
    taken boolean, stream text, from_version bigint, through_version bigint, head bigint, replay_to bigint, token bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_take record;
    v_cut record;
BEGIN
    SELECT * INTO v_take FROM pawl.advance_take(p_instance, p_key, p_streams, p_mine, p_batch);
    RETURN QUERY SELECT false, b.stream, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint FROM unnest(v_take.busy) AS b(stream);
    IF v_take.token = 0 THEN
        RETURN;
    END IF;
    SELECT * INTO v_cut FROM pawl.advance_cut(p_key, v_take.streams, v_take.froms, v_take.heads, v_take.replays, v_take.rooms, true);
    RETURN QUERY SELECT true, u.stream, u.from_version, u.through_version, u.head, u.replay_to, v_take.token
                   FROM unnest(v_take.streams, v_take.froms, v_cut.throughs, v_take.heads, v_take.replays) WITH ORDINALITY
                        AS u(stream, from_version, through_version, head, replay_to, n) ORDER BY u.n;
END
$$;
