-- jobs_promote: work that has become due joins the ready work.
-- params: p_now bigint
-- returns: nothing
-- tables: job_aside (deleted), job (inserted), job_tally
-- locks: the jobs (skip locked)
CREATE OR REPLACE FUNCTION pawl.jobs_promote(p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_ids bigint[];
BEGIN
    v_ids := ARRAY(SELECT a.id FROM pawl.job_aside a WHERE a.state IN (3, 4) AND a.due_ms <= p_now
                    ORDER BY a.due_ms, a.id LIMIT 1000 FOR UPDATE SKIP LOCKED);
    IF cardinality(v_ids) = 0 THEN
        RETURN;
    END IF;
    WITH waited AS (
        UPDATE pawl.job_aside a SET wait_key = NULL, wait_step = NULL, state = 3
         WHERE a.id = ANY (v_ids) AND a.state = 4 RETURNING a.queue)
    INSERT INTO pawl.job_tally (queue, waiting, later) SELECT w.queue, -count(*), count(*) FROM waited w GROUP BY w.queue;
    WITH due AS (DELETE FROM pawl.job_aside a WHERE a.id = ANY (v_ids) RETURNING a.*),
    moved AS (INSERT INTO pawl.job SELECT d.* FROM due d)
    INSERT INTO pawl.job_tally (queue, later, ready) SELECT d.queue, -count(*), count(*) FROM due d GROUP BY d.queue;
END
$$;
