-- job_claim_leave: jobs leave the claim that listed them; a claim without jobs is done.
-- params: p_claim pawl.job_claim (locked by the caller), p_ids bigint[], p_reported boolean: they were reported by their holder
-- returns: nothing
-- tables: job_claim (updated)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.job_claim_leave(p_claim pawl.job_claim, p_ids bigint[], p_reported boolean) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_left bigint[];
BEGIN
    IF cardinality(p_ids) >= cardinality(p_claim.ids) THEN
        v_left := '{}';
    ELSE
        SELECT coalesce(array_agg(u.id ORDER BY u.n), '{}') INTO v_left
          FROM unnest(p_claim.ids) WITH ORDINALITY AS u(id, n)
          LEFT JOIN unnest(p_ids) AS g(id) ON g.id = u.id
         WHERE g.id IS NULL;
    END IF;
    UPDATE pawl.job_claim c
       SET ids = v_left,
           state = CASE WHEN cardinality(v_left) = 0 THEN 2 ELSE 1 END,
           intact = c.intact AND p_reported,
           done_ids = CASE WHEN NOT p_reported THEN c.done_ids
                           WHEN c.intact AND cardinality(v_left) = 0 AND cardinality(c.done_ids) = 0 THEN NULL
                           ELSE c.done_ids || p_ids END
     WHERE c.token = p_claim.token;
END
$$;
