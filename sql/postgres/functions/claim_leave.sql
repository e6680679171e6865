-- claim_leave: items leave the active parts of a token.
-- params: p_token bigint, p_gone bigint[]: their seqs; p_done bigint[], p_done_ids uuid[]: those of them that were
--         reported, with their ids
-- returns: nothing. A part whose last item leaves is done; reported ids are remembered.
-- tables: claim (updated)
-- locks: the parts (held by the caller)
CREATE OR REPLACE FUNCTION pawl.claim_leave(p_token bigint, p_gone bigint[], p_done bigint[], p_done_ids uuid[])
    RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_part record;
    v_left bigint[];
BEGIN
    FOR v_part IN SELECT c.part, c.seqs FROM pawl.claim c
                   WHERE c.token = p_token AND c.state = 1 AND c.seqs && p_gone ORDER BY c.part LOOP
        v_left := ARRAY(SELECT s.seq FROM unnest(v_part.seqs) WITH ORDINALITY AS s(seq, n)
                         WHERE s.seq NOT IN (SELECT unnest(p_gone)) ORDER BY s.n);
        UPDATE pawl.claim c
           SET seqs = v_left, intact = false, state = CASE WHEN cardinality(v_left) = 0 THEN 2 ELSE 1 END,
               done_ids = c.done_ids || ARRAY(SELECT d.id FROM unnest(p_done, p_done_ids) AS d(seq, id)
                                               WHERE (d.seq IN (SELECT unnest(v_part.seqs))) IS TRUE)
         WHERE c.token = p_token AND c.part = v_part.part;
    END LOOP;
END
$$;
