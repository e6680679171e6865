-- apply_begin: locks granted checkpoints of one perspective and says which events are next.
-- params: p_key text, p_token bigint, p_streams text[], p_batch integer: events in all (0: the perspective's)
-- returns: per stream, in the order of the call: held (false: the grant is over), from_version: applied so far, through_version:
--          the last version of this batch, head of the stream, replay_to, how many events that gives
-- raises: PW002 there is no such perspective
-- tables: checkpoint, perspective, stream, event, mapping, skip (read)
-- locks: the checkpoints, in the order of their streams
CREATE OR REPLACE FUNCTION pawl.apply_begin(p_key text, p_token bigint, p_streams text[], p_batch integer) RETURNS TABLE (
    stream text, held boolean, from_version bigint, through_version bigint, head bigint, replay_to bigint, events bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_left integer;
    v_row record;
    v_next record;
BEGIN
    SELECT CASE WHEN p_batch > 0 THEN p_batch ELSE p.batch END INTO v_left FROM pawl.perspective p WHERE p.key = p_key AND p.state IN (1, 2);
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW002', MESSAGE = format('perspective "%s" is not registered, or no longer fed', p_key);
    END IF;
    PERFORM 1 FROM pawl.checkpoint c WHERE c.stream = ANY (p_streams) AND c.perspective = p_key ORDER BY c.stream FOR UPDATE;
    FOR v_row IN SELECT u.stream, c.version, c.status = 1 AND c.token = p_token AS held, s.version AS head, c.replay_to
                   FROM unnest(p_streams) WITH ORDINALITY AS u(stream, n)
                   LEFT JOIN pawl.checkpoint c ON c.stream = u.stream AND c.perspective = p_key
                   LEFT JOIN pawl.stream s ON s.stream = u.stream
                  ORDER BY u.n LOOP
        stream := v_row.stream;
        held := coalesce(v_row.held, false);
        from_version := coalesce(v_row.version, 0);
        head := coalesce(v_row.head, 0);
        replay_to := coalesce(v_row.replay_to, 0);
        through_version := from_version;
        events := 0;
        IF held AND v_left > 0 THEN
            SELECT count(*) AS count, max(x.version) AS last INTO v_next
              FROM (SELECT e.version FROM pawl.event e
                     WHERE e.stream = v_row.stream AND e.version > v_row.version AND e.version <= v_row.head
                       AND EXISTS (SELECT 1 FROM pawl.mapping m WHERE m.type = e.type AND m.key = p_key)
                       AND NOT EXISTS (SELECT 1 FROM pawl.skip k WHERE k.key = p_key AND k.stream = e.stream AND k.version = e.version)
                     ORDER BY e.version LIMIT v_left) x;
            through_version := CASE WHEN v_next.count = v_left THEN v_next.last ELSE v_row.head END;
            v_left := v_left - v_next.count;
            events := v_next.count;
        END IF;
        RETURN NEXT;
    END LOOP;
END
$$;
