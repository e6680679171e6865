-- apply_end: moves the checkpoints of a batch that was applied in this transaction.
-- params: p_key, p_token; per stream: p_versions: applied through, p_errors (NULL: none), p_failed: the version that failed
-- returns: per stream whether there is more (then it stays granted), and 0, or for a failure 1 another attempt, 2 stopped
-- tables: checkpoint (updated), stream, event, mapping (read), perspective_tally (inserted), those of checkpoint_end
-- locks: held by apply_begin; a checkpoint whose token is another by now is left alone
CREATE OR REPLACE FUNCTION pawl.apply_end(
    p_key text, p_token bigint, p_streams text[], p_versions bigint[], p_errors text[], p_failed bigint[]) RETURNS TABLE (
    more boolean, outcome smallint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
    v_row record;
BEGIN
    IF num_nonnulls(VARIADIC p_errors) = 0 THEN
        RETURN QUERY SELECT e.more, 0::smallint FROM pawl.apply_end_all(p_key, p_token, p_streams, p_versions, v_now) e;
        RETURN;
    END IF;
    FOR v_row IN SELECT u.*, s.version AS head, c.status = 1 AND c.token = p_token AND c.version <= u.version AS held
                   FROM unnest(p_streams, p_versions, p_errors, p_failed) WITH ORDINALITY AS u(stream, version, error, failed, n)
                   JOIN pawl.stream s ON s.stream = u.stream
                   JOIN pawl.checkpoint c ON c.stream = u.stream AND c.perspective = p_key ORDER BY u.n LOOP
        IF NOT v_row.held THEN
            RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format('the grant of stream %s is over', v_row.stream);
        END IF;
        outcome := 0;
        more := false;
        IF v_row.error IS NOT NULL THEN
            outcome := pawl.checkpoint_end(v_row.stream, p_key, v_row.version, p_token, 3::smallint, v_row.error, v_row.failed, 0, v_now);
        ELSIF v_row.version < v_row.head THEN
            more := true;
            PERFORM pawl.checkpoint_end(v_row.stream, p_key, v_row.version, p_token, 1::smallint, NULL, 0, 0, v_now);
        ELSE
            PERFORM pawl.checkpoint_end(v_row.stream, p_key, v_row.version, p_token, 2::smallint, NULL, 0, 0, v_now);
        END IF;
        RETURN NEXT;
    END LOOP;
END
$$;
