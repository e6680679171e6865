-- dead_tally_fold: replaces the deltas of a cause by their sum.
-- params: p_groups_max integer
-- returns: how many rows went
-- tables: dead_tally
-- locks: the rows that are folded (skip locked)
CREATE OR REPLACE FUNCTION pawl.dead_tally_fold(p_groups_max integer) RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_count bigint;
BEGIN
    WITH many AS MATERIALIZED (
        SELECT t.kind, t.fingerprint FROM pawl.dead_tally t GROUP BY t.kind, t.fingerprint
        HAVING count(*) > 1 OR sum(t.letters) = 0 LIMIT p_groups_max),
    gone AS (
        DELETE FROM pawl.dead_tally t
         WHERE t.ctid = ANY (ARRAY(SELECT o.ctid FROM pawl.dead_tally o JOIN many m ON m.kind = o.kind AND m.fingerprint = o.fingerprint
                                      FOR UPDATE OF o SKIP LOCKED)) RETURNING t.*),
    sums AS (
        INSERT INTO pawl.dead_tally (kind, fingerprint, letters)
        SELECT g.kind, g.fingerprint, sum(g.letters) FROM gone g GROUP BY g.kind, g.fingerprint HAVING sum(g.letters) <> 0)
    SELECT count(*) INTO v_count FROM gone;
    RETURN v_count;
END
$$;
