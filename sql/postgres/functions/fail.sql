-- fail: items that a claim granted have failed: they are tried again later, or become dead letters.
-- params: p_instance, p_kind, and one array member per item: p_tokens, p_ids, p_errors (at most 4096 bytes are kept),
--         p_classes (1 retryable, 2 permanent, 3 cancelled: the pause says by whom), p_delays (ms; -1: backoff with jitter), p_policies and p_max_attempts
--         (0: the claim's)
-- returns: answers: 1 applied, 2 duplicate, 3 stale; outcomes: 1 retry, 2 dead, 0 for items that were not applied
-- tables: claim, message, aside, dead, hold, tally; pause (read)
-- locks: the claim parts in the order (token, part), the holds, never the lane
CREATE OR REPLACE FUNCTION pawl.fail(
    p_instance uuid, p_kind smallint, p_tokens bigint[], p_ids uuid[], p_errors text[], p_classes smallint[],
    p_delays bigint[], p_policies smallint[], p_max_attempts integer[], OUT answers smallint[], OUT outcomes smallint[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_count integer := coalesce(cardinality(p_ids), 0);
    v_now bigint := pawl.now_ms();
    v_item record;
    v_failed record;
    v_aside bigint := 0;
    v_dead bigint := 0;
    v_done integer := 0;
    v_stale integer := 0;
BEGIN
    IF num_nulls(p_instance, p_kind) > 0 THEN
        PERFORM pawl.refuse_null(ARRAY['p_instance', 'p_kind'], ARRAY[p_instance IS NULL, p_kind IS NULL]);
    END IF;
    answers := array_fill(3::smallint, ARRAY[v_count]);
    outcomes := array_fill(0::smallint, ARRAY[v_count]);
    PERFORM 1 FROM pawl.claim c WHERE c.token = ANY (p_tokens) AND c.instance = p_instance AND c.kind = p_kind
      ORDER BY c.token, c.part FOR UPDATE;
    FOR v_n IN 1 .. v_count LOOP
        SELECT f.* INTO v_item FROM pawl.item_find(p_instance, p_kind, p_tokens[v_n], p_ids[v_n]) f;
        IF NOT FOUND THEN
            answers[v_n] := pawl.ended_answer(p_instance, p_kind, p_tokens[v_n], p_ids[v_n]);
            v_stale := v_stale + (answers[v_n] = 3)::integer;
            CONTINUE;
        END IF;
        SELECT f.dead, f.aside_delta, f.dead_delta INTO v_failed
          FROM pawl.fail_item(p_kind, p_tokens[v_n], p_ids[v_n], v_item.seq, v_item.source, v_item.lane, v_item.key,
                              v_item.attempts + 1, v_item.deaths, pawl.text_cut(
                                  CASE WHEN p_classes[v_n] = 3
                                       THEN coalesce((SELECT 'cancelled by ' || p.actor || coalesce(': ' || p.reason, '')
                                                        FROM pawl.pause p WHERE p.scope = 4 AND p.name = p_ids[v_n]::text),
                                                     p_errors[v_n])
                                       ELSE p_errors[v_n] END, 4096),
                              p_classes[v_n], coalesce(p_delays[v_n], -1),
                              coalesce(nullif(p_policies[v_n], 0), v_item.policy),
                              coalesce(nullif(p_max_attempts[v_n], 0), v_item.max_attempts), v_now) f;
        answers[v_n] := 1;
        outcomes[v_n] := CASE WHEN v_failed.dead THEN 2 ELSE 1 END;
        v_aside := v_aside + v_failed.aside_delta;
        v_dead := v_dead + v_failed.dead_delta;
        v_done := v_done + 1;
    END LOOP;
    IF v_done > 0 OR v_stale > 0 THEN
        INSERT INTO pawl.tally (kind, failed, aside, dead, stale) VALUES (p_kind, v_done, v_aside, v_dead, v_stale);
    END IF;
END
$$;
