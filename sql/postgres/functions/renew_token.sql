-- renew_token: renews the items of one token that a call names.
-- params: p_token: the one to look at; p_tokens, p_ids: the whole call; p_lease: the new end
-- returns: n: place in the call, answer
-- tables: claim (updated, inserted)
-- locks: the parts of the token (held by the caller)
CREATE OR REPLACE FUNCTION pawl.renew_token(
    p_instance uuid, p_kind smallint, p_token bigint, p_tokens bigint[], p_ids uuid[], p_lease bigint)
    RETURNS TABLE (n bigint, answer smallint)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    c_nil constant uuid := '00000000-0000-0000-0000-000000000000';
    v_all boolean;
    v_n bigint[];
    v_answer smallint[];
    v_seqs bigint[];
    v_part record;
    v_named bigint[];
    v_whole smallint := 3;
BEGIN
    v_all := EXISTS (SELECT 1 FROM unnest(p_tokens, p_ids) AS u(token, id)
                      WHERE u.token = p_token AND coalesce(u.id, c_nil) = c_nil);
    WITH named AS (
        SELECT u.n, u.id, row_number() OVER (PARTITION BY u.id ORDER BY u.n) AS nth
          FROM unnest(p_tokens, p_ids) WITH ORDINALITY AS u(token, id, n)
         WHERE u.token = p_token AND coalesce(u.id, c_nil) <> c_nil),
    held AS MATERIALIZED (SELECT t.* FROM pawl.token_items(p_instance, p_kind, p_token) t)
    SELECT array_agg(m.n), array_agg((CASE WHEN f.id IS NOT NULL THEN 1
                                           ELSE pawl.ended_answer(p_instance, p_kind, p_token, m.id) END)::smallint),
           coalesce(array_agg(h.seq) FILTER (WHERE h.seq IS NOT NULL), '{}')
      INTO v_n, v_answer, v_seqs
      FROM named m LEFT JOIN held h ON h.id = m.id AND h.nth = m.nth
      LEFT JOIN (SELECT DISTINCT d.id FROM held d) f ON f.id = m.id;

    FOR v_part IN SELECT c.* FROM pawl.claim c
                   WHERE c.token = p_token AND c.instance = p_instance AND c.kind = p_kind AND c.state = 1
                   ORDER BY c.part LOOP
        v_whole := 1;
        v_named := ARRAY(SELECT s.seq FROM unnest(v_part.seqs) AS s(seq) WHERE v_all OR s.seq = ANY (v_seqs) ORDER BY 1);
        CONTINUE WHEN cardinality(v_named) = 0;
        IF cardinality(v_named) = cardinality(v_part.seqs) THEN
            -- Who renews a suspect begins with it.
            UPDATE pawl.claim c SET lease_until_ms = p_lease, suspect = CASE WHEN c.suspect > 0 THEN 2 ELSE 0 END
             WHERE c.token = p_token AND c.part = v_part.part;
            CONTINUE;
        END IF;
        UPDATE pawl.claim c
           SET intact = false, seqs = ARRAY(SELECT s.seq FROM unnest(c.seqs) AS s(seq) WHERE s.seq <> ALL (v_named) ORDER BY 1)
         WHERE c.token = p_token AND c.part = v_part.part;
        INSERT INTO pawl.claim (token, part, kind, lane, instance, source, suspect, intact, policy, max_attempts,
                                lease_until_ms, began_ms, request, seqs)
        SELECT p_token, (SELECT max(x.part) FROM pawl.claim x WHERE x.token = p_token) + 1, v_part.kind, v_part.lane,
               v_part.instance, v_part.source, v_part.suspect, false, v_part.policy, v_part.max_attempts, p_lease,
               v_part.began_ms, v_part.request, v_named;
    END LOOP;
    IF v_whole = 3 AND v_all THEN
        SELECT CASE WHEN count(*) > 0 AND bool_and(c.state = 2) THEN 2 ELSE 3 END INTO v_whole
          FROM pawl.claim c WHERE c.token = p_token AND c.instance = p_instance AND c.kind = p_kind;
    END IF;
    RETURN QUERY SELECT u.n, u.answer FROM unnest(v_n, v_answer) AS u(n, answer)
                  UNION ALL
                 SELECT u.n, v_whole FROM unnest(p_tokens, p_ids) WITH ORDINALITY AS u(token, id, n)
                  WHERE u.token = p_token AND coalesce(u.id, c_nil) = c_nil;
END
$$;
