-- renew: items that a claim granted stay with it longer; naming only some of a part splits it.
-- params: p_instance, p_kind, and one array member per item: p_tokens, p_ids (NULL or nil: every unfinished item of the
--         token); p_lease_ms
-- returns: one answer per item: 1 applied, 2 duplicate, 3 stale
-- tables: claim (updated, inserted), tally
-- locks: the claim parts in the order (token, part), never the lane
CREATE OR REPLACE FUNCTION pawl.renew(
    p_instance uuid, p_kind smallint, p_tokens bigint[], p_ids uuid[], p_lease_ms bigint) RETURNS smallint[]
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_answers smallint[] := array_fill(3::smallint, ARRAY[coalesce(cardinality(p_ids), 0)]);
    v_lease bigint := pawl.now_ms() + p_lease_ms;
    v_token bigint;
    v_item record;
    v_stale integer;
BEGIN
    IF num_nulls(p_instance, p_kind) > 0 THEN
        PERFORM pawl.refuse_null(ARRAY['p_instance', 'p_kind'], ARRAY[p_instance IS NULL, p_kind IS NULL]);
    END IF;
    PERFORM 1 FROM pawl.claim c WHERE c.token = ANY (p_tokens) AND c.instance = p_instance AND c.kind = p_kind
      ORDER BY c.token, c.part FOR UPDATE;
    FOR v_token IN SELECT DISTINCT t.token FROM unnest(p_tokens) AS t(token) ORDER BY 1 LOOP
        FOR v_item IN SELECT r.n, r.answer FROM pawl.renew_token(p_instance, p_kind, v_token, p_tokens, p_ids, v_lease) r LOOP
            v_answers[v_item.n] := v_item.answer;
        END LOOP;
    END LOOP;
    SELECT count(*) INTO v_stale FROM unnest(v_answers) AS a(answer) WHERE a.answer = 3;
    IF v_stale > 0 THEN
        INSERT INTO pawl.tally (kind, stale) VALUES (p_kind, v_stale);
    END IF;
    RETURN v_answers;
END
$$;
