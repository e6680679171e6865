-- page_skip: a page that is not let through: counted, and its job completed.
-- params: p_instance, p_token, p_id: as granted and held; p_run bigint, p_part integer
-- returns: nothing
-- tables: run_partition (updated), those of jobs_report
-- locks: those of jobs_report; the partition is locked by the caller
CREATE OR REPLACE FUNCTION pawl.page_skip(p_instance uuid, p_token bigint, p_id bigint, p_run bigint, p_part integer) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE pawl.run_partition p SET skipped = p.skipped + 1 WHERE p.run = p_run AND p.part = p_part;
    PERFORM pawl.jobs_report(p_instance, ARRAY[p_token], ARRAY[p_id], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
END
$$;
