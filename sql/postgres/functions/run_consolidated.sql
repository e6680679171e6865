-- run_consolidated: the consolidation is over, or there was none to do.
-- params: p_id bigint, p_now bigint
-- returns: nothing
-- tables: run (updated), those of run_end
-- locks: the run, then its parents
CREATE OR REPLACE FUNCTION pawl.run_consolidated(p_id bigint, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_run pawl.run;
BEGIN
    UPDATE pawl.run r SET consolidated = true, job = 0, state = CASE WHEN r.children_open > 0 THEN 3 ELSE r.state END
     WHERE r.id = p_id RETURNING r.* INTO v_run;
    IF v_run.children_open = 0 THEN
        PERFORM pawl.run_nest_end(v_run, p_now);
    END IF;
END
$$;
