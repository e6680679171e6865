-- jobs_maintain: takes back what dead or late workers hold, removes what has outlived its use, folds the tally.
-- params: p_rows_max integer: bound of each deletion
-- returns: how many of each
-- tables: those of jobs_sweep, task_run, job_claim, schedule_fire, job_signal, refusal, spine, job_tally
-- locks: those of jobs_sweep, then the rows that go (skip locked)
CREATE OR REPLACE FUNCTION pawl.jobs_maintain(
    p_rows_max integer, OUT runs_removed bigint, OUT claims_removed bigint, OUT fires_removed bigint, OUT signals_removed bigint,
    OUT refusals_removed bigint, OUT spine_removed bigint, OUT tally_folded bigint, OUT leases_expired bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
BEGIN
    leases_expired := pawl.jobs_sweep(NULL, v_now);
    DELETE FROM pawl.task_run r WHERE r.ctid = ANY (ARRAY(
        SELECT o.ctid FROM pawl.task_run o WHERE o.expires_ms < v_now LIMIT p_rows_max FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS runs_removed = ROW_COUNT;
    DELETE FROM pawl.job_claim c WHERE c.ctid = ANY (ARRAY(
        SELECT o.ctid FROM pawl.job_claim o WHERE o.state = 2 AND o.lease_until_ms < v_now - 3600000
         LIMIT p_rows_max FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS claims_removed = ROW_COUNT;
    DELETE FROM pawl.schedule_fire f WHERE f.ctid = ANY (ARRAY(
        SELECT o.ctid FROM pawl.schedule_fire o JOIN pawl.schedule s ON s.name = o.schedule
         WHERE o.fired_ms < v_now - 604800000 AND o.instant_ms <= s.last_ms LIMIT p_rows_max FOR UPDATE OF o SKIP LOCKED));
    GET DIAGNOSTICS fires_removed = ROW_COUNT;
    DELETE FROM pawl.job_signal g WHERE g.ctid = ANY (ARRAY(
        SELECT o.ctid FROM pawl.job_signal o WHERE o.expires_ms <= v_now LIMIT p_rows_max FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS signals_removed = ROW_COUNT;
    DELETE FROM pawl.refusal r WHERE r.ctid = ANY (ARRAY(
        SELECT o.ctid FROM pawl.refusal o WHERE o.made_ms < v_now - 2592000000 LIMIT p_rows_max FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS refusals_removed = ROW_COUNT;
    DELETE FROM pawl.spine s WHERE s.id = ANY (ARRAY(
        SELECT o.id FROM (SELECT e.id, e.made_ms FROM pawl.spine e ORDER BY e.id LIMIT p_rows_max) o
         WHERE o.made_ms < v_now - 604800000));
    GET DIAGNOSTICS spine_removed = ROW_COUNT;
    WITH gone AS (
        DELETE FROM pawl.job_tally t
         WHERE t.ctid = ANY (ARRAY(SELECT o.ctid FROM pawl.job_tally o LIMIT p_rows_max FOR UPDATE SKIP LOCKED)) RETURNING t.*),
    sums AS (
        INSERT INTO pawl.job_tally
        SELECT g.queue, sum(g.ready), sum(g.running), sum(g.later), sum(g.waiting), sum(g.dead), sum(g.put), sum(g.done),
               sum(g.failed), sum(g.lost), sum(g.died), sum(g.cancelled), sum(g.redriven), sum(g.discarded), sum(g.stale)
          FROM gone g GROUP BY g.queue)
    SELECT count(*) INTO tally_folded FROM gone;
END
$$;
