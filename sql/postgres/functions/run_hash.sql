-- run_hash: the hash of a task_run row, the same as src/domain/authority/audit.h computes.
-- params: the fields of the row
-- returns: SHA-256
-- tables: none
-- locks: none
CREATE OR REPLACE FUNCTION pawl.run_hash(
    p_id bigint, p_job bigint, p_task text, p_type text, p_queue text, p_attempt integer, p_instance uuid, p_token bigint,
    p_started bigint, p_finished bigint, p_outcome smallint, p_in text, p_out text, p_output json, p_error text,
    p_steps json, p_expires bigint) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN sha256(convert_to(concat_ws('|', p_id, p_job, coalesce(p_task, ''), p_type, p_queue, p_attempt,
        coalesce(p_instance::text, ''), p_token, p_started, p_finished, p_outcome, coalesce(p_in, ''), coalesce(p_out, ''),
        coalesce(encode(sha256(convert_to(p_output::text, 'UTF8')), 'hex'), ''),
        coalesce(encode(sha256(convert_to(p_error, 'UTF8')), 'hex'), ''),
        coalesce(encode(sha256(convert_to(p_steps::text, 'UTF8')), 'hex'), ''), p_expires), 'UTF8'));
END
$$;
