-- work_perspectives: the checkpoints that a batch is granted: those that messages of appends speak of, then what is due.
-- params: p_instance; p_keys text[]: perspectives that the caller can run, NULL or empty: all that are fed; p_max; p_lease_ms; p_request
--         uuid (NULL: none): used before: what the instance still holds of that batch's grants comes again, and nothing else
-- returns: a row per checkpoint: applied through version, head of the stream, the token that every report must carry, its lease; events
--          up to replay_to are a replay; attempt from 1
-- raises: PW004 the instance is not active or its lease is over
-- tables: those of claim, checkpoints_claim, complete and release; request
-- locks: those of claim, then the checkpoints (skip locked)
CREATE OR REPLACE FUNCTION pawl.work_perspectives(
    p_instance uuid, p_keys text[], p_max integer, p_lease_ms bigint, p_request uuid) RETURNS TABLE (
    stream text, perspective text, version bigint, head bigint, token bigint, lease_until_ms bigint, replay_to bigint, attempt integer)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_keys text[] := p_keys;
    v_left integer := p_max;
    v_wake record;
    v_busy text[];
    v_grant record;
BEGIN
    IF p_request IS NOT NULL AND NOT pawl.request_take(p_request, pawl.now_ms()) THEN
        RETURN QUERY SELECT c.stream, c.perspective, c.version, s.version, c.token, c.lease_until_ms, c.replay_to, c.attempts + 1
                       FROM pawl.checkpoint c JOIN pawl.stream s ON s.stream = c.stream
                      WHERE c.instance = p_instance AND c.request = p_request AND c.status = 1 ORDER BY c.stream, c.perspective;
        RETURN;
    END IF;
    IF coalesce(cardinality(v_keys), 0) = 0 THEN
        v_keys := ARRAY(SELECT p.key FROM pawl.perspective p WHERE p.state IN (1, 2));
    END IF;
    SELECT array_agg(i.token) AS tokens, array_agg(i.id) AS ids, array_agg(i.stream) AS streams INTO v_wake
      FROM pawl.claim(p_instance, 3::smallint, 1000, p_lease_ms, 0::smallint, 0, NULL) i;
    IF v_wake.ids IS NOT NULL THEN
        v_busy := '{}';
        FOR v_grant IN SELECT g.* FROM pawl.checkpoints_claim(p_instance, array_remove(v_wake.streams, NULL), v_keys, v_left, p_lease_ms,
                                                              p_request) g LOOP
            IF NOT v_grant.granted THEN
                v_busy := v_busy || v_grant.stream;
                CONTINUE;
            END IF;
            v_left := v_left - 1;
            stream := v_grant.stream;
            perspective := v_grant.perspective;
            version := v_grant.version;
            head := v_grant.head;
            token := v_grant.token;
            lease_until_ms := v_grant.lease_until_ms;
            replay_to := v_grant.replay_to;
            attempt := v_grant.attempt;
            RETURN NEXT;
        END LOOP;
        -- What they said is written down in checkpoints, except for the streams that a transaction is at.
        PERFORM pawl.complete(p_instance, 3::smallint, array_agg(u.token), array_agg(u.id), array_agg(4), false)
           FROM unnest(v_wake.tokens, v_wake.ids, v_wake.streams) AS u(token, id, stream)
          WHERE (u.stream = ANY (v_busy)) IS NOT TRUE HAVING count(*) > 0;
        PERFORM pawl.release(p_instance, 3::smallint, array_agg(u.token), array_agg(u.id), array_agg(100::bigint))
           FROM unnest(v_wake.tokens, v_wake.ids, v_wake.streams) AS u(token, id, stream)
          WHERE u.stream = ANY (v_busy) HAVING count(*) > 0;
    END IF;
    IF v_left > 0 THEN
        RETURN QUERY SELECT g.stream, g.perspective, g.version, g.head, g.token, g.lease_until_ms, g.replay_to, g.attempt
                       FROM pawl.checkpoints_claim(p_instance, NULL, v_keys, v_left, p_lease_ms, p_request) g;
    END IF;
END
$$;
