-- tally_fold: replaces the deltas of the tally by their sums.
-- params: p_rows_max integer
-- returns: how many rows went
-- tables: tally
-- locks: the rows that are folded (skip locked)
CREATE OR REPLACE FUNCTION pawl.tally_fold(p_rows_max integer) RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_count bigint;
BEGIN
    IF (SELECT count(*) FROM (SELECT 1 FROM pawl.tally LIMIT 4) t) < 4 THEN
        RETURN 0; -- already one row per kind
    END IF;
    WITH gone AS (
        DELETE FROM pawl.tally t
         WHERE t.ctid = ANY (ARRAY(SELECT o.ctid FROM pawl.tally o LIMIT p_rows_max FOR UPDATE SKIP LOCKED)) RETURNING t.*),
    sums AS (
        INSERT INTO pawl.tally (kind, put, done, failed, dead, aside, stale, duplicate, redriven, discarded)
        SELECT g.kind, sum(g.put), sum(g.done), sum(g.failed), sum(g.dead), sum(g.aside), sum(g.stale), sum(g.duplicate),
               sum(g.redriven), sum(g.discarded)
          FROM gone g GROUP BY g.kind)
    SELECT count(*) INTO v_count FROM gone;
    RETURN v_count;
END
$$;
