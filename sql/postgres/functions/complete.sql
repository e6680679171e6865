-- complete: ends items that a claim granted; per stream only a prefix of what is unfinished.
-- params: p_instance, p_kind, p_tokens bigint[], p_ids uuid[], p_statuses integer[] (one per item), p_debug boolean: keep
--         them in the history
-- returns: one answer per item: 1 applied, 2 duplicate, 3 stale, 4 conflict (an earlier one is unfinished), 5 invalid status
-- tables: claim (updated), message, aside (deleted), hold, history, tally
-- locks: the claim parts in the order (token, part), never the lane
CREATE OR REPLACE FUNCTION pawl.complete(
    p_instance uuid, p_kind smallint, p_tokens bigint[], p_ids uuid[], p_statuses integer[], p_debug boolean)
    RETURNS smallint[]
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_count integer := coalesce(cardinality(p_ids), 0);
    v_now bigint;
    v_keep boolean;
    v_tokens bigint[];
    v_valid boolean;
    v_whole bigint[] := '{}';
    v_token bigint;
    v_item record;
    v_answers smallint[];
    v_done integer := 0;
    v_aside integer := 0;
    v_stale integer := 0;
BEGIN
    IF num_nulls(p_instance, p_kind) > 0 THEN
        PERFORM pawl.refuse_null(ARRAY['p_instance', 'p_kind'], ARRAY[p_instance IS NULL, p_kind IS NULL]);
    END IF;
    IF v_count = 0 THEN
        RETURN '{}';
    END IF;
    SELECT CASE WHEN s.test_now_ms <> 0 THEN s.test_now_ms ELSE (extract(epoch FROM clock_timestamp()) * 1000)::bigint END,
           s.history_ms > 0 OR coalesce(p_debug, false)
      INTO v_now, v_keep FROM pawl.settings s;
    -- Most calls end one claim, all items alike.
    IF p_tokens = array_fill(p_tokens[1], ARRAY[v_count]) AND p_statuses = array_fill(p_statuses[1], ARRAY[v_count]) THEN
        v_tokens := p_tokens[1:1];
        v_valid := p_statuses[1] BETWEEN 2 AND 7;
    ELSE
        SELECT array_agg(DISTINCT u.token), bool_and(u.status BETWEEN 2 AND 7) INTO v_tokens, v_valid
          FROM unnest(p_tokens, p_statuses) AS u(token, status);
    END IF;
    PERFORM 1 FROM pawl.claim c WHERE c.token = ANY (v_tokens) AND c.instance = p_instance AND c.kind = p_kind
      ORDER BY c.token, c.part FOR UPDATE;

    -- Most calls end whole claims.
    IF v_valid THEN
        v_whole := pawl.complete_whole(p_instance, p_kind, p_tokens, p_ids, cardinality(v_tokens) = 1, v_keep, v_now);
        IF cardinality(v_whole) = cardinality(v_tokens) THEN
            INSERT INTO pawl.tally (kind, done) VALUES (p_kind, v_count);
            RETURN array_fill(1::smallint, ARRAY[v_count]);
        END IF;
    END IF;
    IF cardinality(v_whole) = 0 THEN
        v_answers := array_fill(5::smallint, ARRAY[v_count]);
    ELSE
        SELECT array_agg(CASE WHEN u.token = ANY (v_whole) THEN 1 ELSE 5 END::smallint ORDER BY u.n),
               count(*) FILTER (WHERE u.token = ANY (v_whole)) INTO v_answers, v_done
          FROM unnest(p_tokens) WITH ORDINALITY AS u(token, n);
    END IF;
    FOREACH v_token IN ARRAY v_tokens LOOP
        CONTINUE WHEN v_token = ANY (v_whole);
        FOR v_item IN SELECT r.n, r.answer, r.aside_gone
                        FROM pawl.complete_some(p_instance, p_kind, v_token, p_tokens, p_ids, p_statuses, v_keep, v_now) r LOOP
            v_answers[v_item.n] := v_item.answer;
            v_done := v_done + (v_item.answer = 1)::integer;
            v_stale := v_stale + (v_item.answer = 3)::integer;
            v_aside := v_aside + v_item.aside_gone::integer;
        END LOOP;
    END LOOP;
    IF v_done > 0 OR v_stale > 0 THEN
        INSERT INTO pawl.tally (kind, done, aside, stale) VALUES (p_kind, v_done, -v_aside, v_stale);
    END IF;
    RETURN v_answers;
END
$$;
