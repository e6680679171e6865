-- run_fan_in: what follows when no partition of a run is open.
-- params: p_run pawl.run (locked, as it is now), p_now bigint
-- returns: nothing
-- tables: those of run_consolidate and run_end
-- locks: those of run_consolidate and run_end
CREATE OR REPLACE FUNCTION pawl.run_fan_in(p_run pawl.run, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_run.failed = 0 OR p_run.policy = 2 THEN
        PERFORM pawl.run_consolidate(p_run.id, p_now);
    ELSIF p_run.policy = 3 THEN
        UPDATE pawl.run r SET state = 4 WHERE r.id = p_run.id;
    ELSE
        PERFORM pawl.run_end(p_run.id, 6::smallint, format('%s of %s partitions failed', p_run.failed, p_run.partitions), p_now);
    END IF;
END
$$;
