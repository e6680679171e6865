-- run_nest_end: a run that has consolidated and has no open children ends as they did.
-- params: p_run pawl.run (locked), p_now bigint
-- returns: nothing
-- tables: those of run_end
-- locks: those of run_end
CREATE OR REPLACE FUNCTION pawl.run_nest_end(p_run pawl.run, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pawl.run_end(p_run.id, CASE WHEN p_run.children_failed > 0 THEN 6 ELSE 5 END::smallint,
                         CASE WHEN p_run.children_failed > 0 THEN format('%s of its child runs failed', p_run.children_failed) END, p_now);
END
$$;
