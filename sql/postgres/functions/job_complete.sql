-- job_complete: completes one job inside the caller's own transaction, so that its effect and its end are one.
-- params: p_instance, p_token, p_id: as granted (p_instance NULL: whoever the token was granted to); p_output json;
--         p_duration_ms: how long the execution took
-- returns: nothing; raises PW004 when the grant is over, which undoes the caller's transaction
-- tables: those of jobs_report
-- locks: those of jobs_report
CREATE OR REPLACE FUNCTION pawl.job_complete(
    p_instance uuid, p_token bigint, p_id bigint, p_output json DEFAULT NULL, p_duration_ms bigint DEFAULT 0) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_answers smallint[];
BEGIN
    SELECT r.answers INTO v_answers
      FROM pawl.jobs_report(coalesce(p_instance, (SELECT c.instance FROM pawl.job_claim c WHERE c.token = p_token)),
                            ARRAY[p_token], ARRAY[p_id], NULL, NULL, NULL, ARRAY[p_duration_ms],
                            CASE WHEN p_output IS NOT NULL THEN ARRAY[p_output] END, NULL, NULL, NULL, NULL, NULL, NULL) r;
    IF v_answers[1] <> 1 THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004',
            MESSAGE = format('job %s is not held under token %s any more: somebody else has it or it has ended', p_id, p_token);
    END IF;
END
$$;
