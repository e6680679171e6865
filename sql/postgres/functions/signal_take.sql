-- signal_take: uses up the oldest kept signal of a wait key: its payload becomes the output of a step.
-- params: p_job bigint, p_wait_key text, p_step text, p_now bigint; the wait key is locked by the caller
-- returns: whether there was one
-- tables: job_signal (deleted), job_step (inserted)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.signal_take(p_job bigint, p_wait_key text, p_step text, p_now bigint)
    RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_payload json;
BEGIN
    DELETE FROM pawl.job_signal s
     WHERE s.id = (SELECT o.id FROM pawl.job_signal o WHERE o.wait_key = p_wait_key AND o.expires_ms > p_now
                    ORDER BY o.id LIMIT 1)
    RETURNING s.payload INTO v_payload;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM pawl.step_write(p_job, p_step, 0, 1::smallint, 1, 0, NULL, NULL, NULL, v_payload, p_now);
    RETURN true;
END
$$;
