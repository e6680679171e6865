-- perspective_tally_fold: replaces the deltas of the perspectives' counts by their sums.
-- returns: nothing
-- tables: perspective_tally
-- locks: the rows that are folded (skip locked)
CREATE OR REPLACE FUNCTION pawl.perspective_tally_fold() RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    WITH gone AS (
        DELETE FROM pawl.perspective_tally t
         WHERE t.ctid = ANY (ARRAY(SELECT o.ctid FROM pawl.perspective_tally o LIMIT 20000 FOR UPDATE SKIP LOCKED)) RETURNING t.*)
    INSERT INTO pawl.perspective_tally (key, checkpoints, pending, processing, completed, failed, stopped, applied)
    SELECT g.key, sum(g.checkpoints), sum(g.pending), sum(g.processing), sum(g.completed), sum(g.failed), sum(g.stopped), sum(g.applied)
      FROM gone g GROUP BY g.key;
END
$$;
