-- release: items that a claim granted go back without an attempt.
-- params: p_instance, p_kind, and one array member per item: p_tokens, p_ids, p_delays (ms)
-- returns: one answer per item: 1 applied, 2 duplicate, 3 stale
-- tables: claim, message, aside, hold, tally
-- locks: the claim parts in the order (token, part), the holds, never the lane
CREATE OR REPLACE FUNCTION pawl.release(
    p_instance uuid, p_kind smallint, p_tokens bigint[], p_ids uuid[], p_delays bigint[]) RETURNS smallint[]
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_count integer := coalesce(cardinality(p_ids), 0);
    v_answers smallint[] := array_fill(3::smallint, ARRAY[v_count]);
    v_now bigint := pawl.now_ms();
    v_item record;
    v_aside bigint := 0;
    v_stale integer := 0;
BEGIN
    IF num_nulls(p_instance, p_kind) > 0 THEN
        PERFORM pawl.refuse_null(ARRAY['p_instance', 'p_kind'], ARRAY[p_instance IS NULL, p_kind IS NULL]);
    END IF;
    PERFORM 1 FROM pawl.claim c WHERE c.token = ANY (p_tokens) AND c.instance = p_instance AND c.kind = p_kind
      ORDER BY c.token, c.part FOR UPDATE;
    FOR v_n IN 1 .. v_count LOOP
        SELECT f.* INTO v_item FROM pawl.item_find(p_instance, p_kind, p_tokens[v_n], p_ids[v_n]) f;
        IF NOT FOUND THEN
            v_answers[v_n] := pawl.ended_answer(p_instance, p_kind, p_tokens[v_n], p_ids[v_n]);
            v_stale := v_stale + (v_answers[v_n] = 3)::integer;
            CONTINUE;
        END IF;
        IF v_item.source = 1 THEN
            v_aside := v_aside + pawl.message_to_aside(p_kind, v_item.lane, ARRAY[v_item.seq], NULL, 4::smallint, v_now);
        END IF;
        UPDATE pawl.aside a SET reason = 4, scheduled_ms = v_now + greatest(coalesce(p_delays[v_n], 0), 0)
         WHERE a.kind = p_kind AND a.seq = v_item.seq;
        PERFORM pawl.claim_leave(p_tokens[v_n], ARRAY[v_item.seq], ARRAY[v_item.seq], ARRAY[p_ids[v_n]]);
        IF NOT starts_with(v_item.key, chr(1)) THEN
            v_aside := v_aside + pawl.stream_behind(p_kind, v_item.lane, p_tokens[v_n], v_item.key, v_item.seq, true, v_now);
        END IF;
        PERFORM pawl.hold_settle(p_kind, v_item.lane, ARRAY[v_item.key]);
        v_answers[v_n] := 1;
    END LOOP;
    IF v_aside <> 0 OR v_stale > 0 THEN
        INSERT INTO pawl.tally (kind, aside, stale) VALUES (p_kind, v_aside, v_stale);
    END IF;
    RETURN v_answers;
END
$$;
