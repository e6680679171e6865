-- page_held: whether the caller holds a page's job; locks what the end of that job needs.
-- params: p_instance, p_token, p_id: as granted
-- returns: 1 held, 2 reported before under that token, 3 the grant is over (counted)
-- tables: job_claim, job (read), those of jobs_report when it is not held
-- locks: the claim, then the job
CREATE OR REPLACE FUNCTION pawl.page_held(p_instance uuid, p_token bigint, p_id bigint) RETURNS smallint
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_answers smallint[];
BEGIN
    PERFORM 1 FROM pawl.job_claim c WHERE c.token = p_token AND c.instance = p_instance AND c.state = 1 FOR UPDATE;
    IF FOUND THEN
        PERFORM 1 FROM pawl.job j WHERE j.id = p_id AND j.token = p_token AND j.token > 0 FOR UPDATE;
        IF FOUND THEN
            RETURN 1;
        END IF;
    END IF;
    SELECT r.answers INTO v_answers
      FROM pawl.jobs_report(p_instance, ARRAY[p_token], ARRAY[p_id], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) r;
    RETURN v_answers[1];
END
$$;
