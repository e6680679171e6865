-- run_open: a run that had failed or was in repair goes on.
-- params: p_run pawl.run (locked), p_state smallint: its state from now on
-- returns: nothing
-- tables: run (updated), job_limit (inserted)
-- locks: the run, then its parents
CREATE OR REPLACE FUNCTION pawl.run_open(p_run pawl.run, p_state smallint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_parent pawl.run;
BEGIN
    UPDATE pawl.run r SET state = p_state, error = NULL, ended_ms = 0 WHERE r.id = p_run.id;
    IF p_run.state <> 6 THEN
        RETURN;
    END IF;
    IF p_run.paced THEN
        PERFORM pawl.job_limit_set('run:' || p_run.id, p_run.concurrency, p_run.rate, p_run.rate_ms, 1);
    END IF;
    IF p_run.parent IS NOT NULL THEN
        UPDATE pawl.run r SET children_open = r.children_open + 1, children_failed = r.children_failed - 1
         WHERE r.id = p_run.parent RETURNING r.* INTO v_parent;
        IF v_parent.state = 6 AND v_parent.consolidated THEN
            PERFORM pawl.run_open(v_parent, 3::smallint);
        END IF;
    END IF;
END
$$;
