-- run_jobs_lock: the locks that the ends of several jobs of runs need, taken in the one order that everybody keeps.
-- params: p_keys text[]: the unique keys of the jobs, which the caller has locked
-- returns: nothing; a job that ends alone takes its locks in this order by itself
-- tables: run_partition, run (read)
-- locks: the partitions by (run, part), then the runs and all their parents, the youngest first
CREATE OR REPLACE FUNCTION pawl.run_jobs_lock(p_keys text[]) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_runs bigint[];
BEGIN
    IF coalesce(cardinality(p_keys), 0) < 2 THEN
        RETURN;
    END IF;
    PERFORM 1
       FROM (SELECT DISTINCT split_part(k.key, ':', 2)::bigint AS run,
                    CASE WHEN split_part(k.key, ':', 3) <> 'consolidate' THEN split_part(k.key, ':', 3)::integer END AS part
               FROM unnest(p_keys) AS k(key)) k
       JOIN pawl.run_partition p ON p.run = k.run AND p.part = k.part
      ORDER BY p.run, p.part FOR UPDATE OF p;
    WITH RECURSIVE family AS (
        SELECT r.id, r.parent FROM pawl.run r WHERE r.id IN (SELECT split_part(k.key, ':', 2)::bigint FROM unnest(p_keys) AS k(key))
        UNION
        SELECT r.id, r.parent FROM family f JOIN pawl.run r ON r.id = f.parent)
    SELECT array_agg(f.id) INTO v_runs FROM family f;
    -- A child is younger than its parent.
    PERFORM 1 FROM pawl.run r WHERE r.id = ANY (v_runs) ORDER BY r.id DESC FOR UPDATE;
END
$$;
