-- job_lost: an execution ended with its lease or its worker.
-- params: p_job pawl.job (locked), p_instance uuid: who held it; p_block, p_place: where its audit row goes; p_now bigint
-- returns: slot, counter: members of the sums of job_tally_add besides lost; entry of the audit row
-- tables: job (updated or deleted), those of job_record, job_dies, job_gone
-- locks: the unique key
CREATE OR REPLACE FUNCTION pawl.job_lost(
    p_job pawl.job, p_instance uuid, p_block bigint, p_place integer, p_now bigint, OUT slot integer, OUT counter integer,
    OUT entry bytea)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_reason smallint := CASE WHEN p_job.attempts >= p_job.max_attempts THEN 3 WHEN p_job.deadline_ms <= p_now THEN 4 END;
BEGIN
    counter := 0;
    entry := pawl.job_record(p_job, CASE WHEN p_job.cancel_ms IS NOT NULL THEN 4 WHEN v_reason IS NOT NULL THEN 3 ELSE 5 END::smallint,
                            p_instance, p_now, 0, NULL, NULL, NULL, NULL, NULL, p_block, p_place);
    IF p_job.cancel_ms IS NOT NULL THEN
        DELETE FROM pawl.job j WHERE j.id = p_job.id;
        PERFORM pawl.job_gone(p_job, 2::smallint, p_now);
        slot := 9;
    ELSIF v_reason IS NOT NULL THEN
        DELETE FROM pawl.job j WHERE j.id = p_job.id;
        PERFORM pawl.job_dies(p_job, v_reason, NULL, p_now);
        slot := 4;
        counter := 8;
    ELSE
        UPDATE pawl.job j SET token = 0, lease_until_ms = NULL, ready_key = j.key WHERE j.id = p_job.id;
        slot := 1;
    END IF;
END
$$;
