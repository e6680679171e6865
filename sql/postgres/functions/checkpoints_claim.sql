-- checkpoints_claim: grants checkpoints that are behind their streams, of perspectives that the caller can run.
-- params: p_instance uuid; p_streams text[]: those of claimed messages, NULL or empty: whatever is due; p_keys text[];
--         p_max integer; p_lease_ms bigint; p_request uuid: noted with what is granted
-- returns: rows with granted true by (stream, perspective), or by due time when no streams are named; a row with granted
--          false names a stream that somebody else is at
-- raises: PW004 the instance is not active
-- tables: instance, perspective, stream (read), checkpoint (updated)
-- locks: the checkpoints (skip locked)
CREATE OR REPLACE FUNCTION pawl.checkpoints_claim(
    p_instance uuid, p_streams text[], p_keys text[], p_max integer, p_lease_ms bigint, p_request uuid DEFAULT NULL) RETURNS TABLE (
    granted boolean, stream text, perspective text, version bigint, head bigint, token bigint, lease_until_ms bigint,
    replay_to bigint, attempt integer)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_now bigint := pawl.now_ms();
    v_token bigint := 0;
    v_keys text[];
    v_take record;
BEGIN
    PERFORM 1 FROM pawl.instance i WHERE i.id = p_instance AND i.state = 1 AND i.lease_until_ms > v_now;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format('instance %s is evicted: drop everything and register anew', p_instance);
    END IF;
    v_keys := ARRAY(SELECT p.key FROM pawl.perspective p WHERE p.key = ANY (p_keys) AND p.state IN (1, 2) AND NOT p.paused);
    PERFORM pawl.checkpoints_recover(NULL, v_now);
    IF coalesce(cardinality(p_streams), 0) > 0 THEN
        SELECT * INTO v_take FROM pawl.claim_streams(p_streams, v_keys, p_max, v_now, '{}');
        RETURN QUERY SELECT false, b.stream, NULL::text, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0
                       FROM unnest(v_take.busy) AS b(stream);
    ELSE
        SELECT * INTO v_take FROM pawl.claim_due(v_keys, p_max, v_now);
    END IF;
    IF v_take.streams = '{}' THEN
        RETURN;
    END IF;
    v_token := pawl.token_next();
    RETURN QUERY
    WITH took AS (
        UPDATE pawl.checkpoint c
           SET status = 1, instance = p_instance, token = v_token, lease_until_ms = v_now + p_lease_ms,
               due_ms = v_now + p_lease_ms, updated_ms = v_now, request = p_request
          FROM unnest(v_take.streams, v_take.keys) WITH ORDINALITY AS u(stream, key, n)
         WHERE c.stream = u.stream AND c.perspective = u.key
        RETURNING u.n, c.stream, c.perspective, c.version, c.replay_to, c.attempts)
    SELECT true, t.stream, t.perspective, t.version, s.version, v_token, v_now + p_lease_ms, t.replay_to, t.attempts + 1
      FROM took t JOIN pawl.stream s ON s.stream = t.stream ORDER BY t.n;
END
$$;
