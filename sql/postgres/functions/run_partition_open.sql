-- run_partition_open: a partition that is done or failed is worked on again, and so is its run.
-- params: p_run pawl.run, p_part pawl.run_partition, both locked and as they are now; p_now bigint
-- returns: nothing
-- tables: run_partition, run (updated), those of run_open
-- locks: those of run_open
CREATE OR REPLACE FUNCTION pawl.run_partition_open(p_run pawl.run, p_part pawl.run_partition, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_part.state = 1 THEN
        RETURN;
    END IF;
    UPDATE pawl.run_partition p SET state = 1, paused = p_run.paused, error = NULL, ended_ms = 0, updated_ms = p_now
     WHERE p.run = p_part.run AND p.part = p_part.part;
    UPDATE pawl.run r SET remaining = r.remaining + 1, done = r.done - (p_part.state = 2)::integer,
                          failed = r.failed - (p_part.state = 3)::integer
     WHERE r.id = p_run.id;
    IF p_run.state <> 1 THEN
        PERFORM pawl.run_open(p_run, 1::smallint);
    END IF;
END
$$;
