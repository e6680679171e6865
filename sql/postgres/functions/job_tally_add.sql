-- job_tally_add: what one call did to the jobs of a queue that were running.
-- params: p_queue text, p_sums bigint[]: ready, later, waiting, dead, done, failed, lost, died, cancelled, stale
-- returns: nothing
-- tables: job_tally (inserted)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.job_tally_add(p_queue text, p_sums bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_sums <> '{0,0,0,0,0,0,0,0,0,0}' THEN
        INSERT INTO pawl.job_tally (queue, ready, running, later, waiting, dead, done, failed, lost, died, cancelled, stale)
        VALUES (p_queue, p_sums[1], -(p_sums[1] + p_sums[2] + p_sums[3] + p_sums[4] + p_sums[5] + p_sums[9]), p_sums[2],
                p_sums[3], p_sums[4], p_sums[5], p_sums[6], p_sums[7], p_sums[8], p_sums[9], p_sums[10]);
    END IF;
END
$$;
