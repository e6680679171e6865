-- advance_take: locks what of one perspective is to be applied in this transaction, and draws its token.
-- params: p_instance, p_key; p_streams: those of claimed messages, empty: whatever is due; p_mine: with streams, keys whose
--         checkpoints the caller looks after himself; p_batch: events in all (0: the perspective's)
-- returns: per stream: version, head of the stream, replay_to, room: the most events it may be given; busy streams; token, 0:
--          nothing was taken
-- raises: PW002 the perspective is not registered; PW004 the instance is not active
-- tables: instance, perspective, stream (read), checkpoint (updated)
-- locks: the checkpoints (skip locked)
CREATE OR REPLACE FUNCTION pawl.advance_take(
    p_instance uuid, p_key text, p_streams text[], p_mine text[], p_batch integer,
    OUT streams text[], OUT froms bigint[], OUT heads bigint[], OUT replays bigint[], OUT rooms bigint[], OUT busy text[], OUT token bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
    v_how record;
    v_take record;
BEGIN
    PERFORM 1 FROM pawl.instance i WHERE i.id = p_instance AND i.state = 1 AND i.lease_until_ms > v_now;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format('instance %s is evicted: drop everything and register anew', p_instance);
    END IF;
    SELECT CASE WHEN p_batch > 0 THEN p_batch ELSE p.batch END AS batch, p.paused INTO v_how
      FROM pawl.perspective p WHERE p.key = p_key AND p.state IN (1, 2);
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW002', MESSAGE = format('perspective "%s" is not registered, or no longer fed', p_key);
    END IF;
    PERFORM pawl.checkpoints_recover(NULL, v_now);
    busy := '{}';
    token := 0;
    streams := '{}';
    IF cardinality(p_streams) > 0 THEN
        SELECT * INTO v_take FROM pawl.advance_named(p_key, p_streams, p_mine, v_how.paused, v_how.batch, v_now);
        busy := v_take.busy;
    ELSIF v_how.paused THEN
        RETURN;
    ELSE
        SELECT * INTO v_take FROM pawl.advance_due(p_key, v_how.batch, v_now);
    END IF;
    IF v_take.streams = '{}' THEN
        RETURN;
    END IF;
    token := pawl.token_next();
    streams := v_take.streams;
    froms := v_take.froms;
    heads := v_take.heads;
    replays := v_take.replays;
    rooms := ARRAY(SELECT v_how.batch - coalesce(sum(u.head - u.version) OVER (ORDER BY u.n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)
                     FROM unnest(heads, froms) WITH ORDINALITY AS u(head, version, n) ORDER BY u.n);
END
$$;
