-- run_end: a run ends: its limit goes, who waits for it wakes up, its parent counts it.
-- params: p_id bigint; p_state smallint: 5 completed, 6 failed, 7 cancelled; p_error text; p_now bigint
-- returns: nothing
-- tables: run (updated), job_limit (deleted), those of jobs_wake
-- locks: the run, then its parents; the wait key
CREATE OR REPLACE FUNCTION pawl.run_end(p_id bigint, p_state smallint, p_error text, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_run pawl.run;
    v_parent pawl.run;
BEGIN
    UPDATE pawl.run r SET state = p_state, ended_ms = p_now, error = pawl.text_cut(p_error, 4096) WHERE r.id = p_id
    RETURNING r.* INTO v_run;
    IF v_run.paced THEN
        DELETE FROM pawl.job_limit l WHERE l.key = 'run:' || p_id;
    END IF;
    IF v_run.wait_key IS NOT NULL THEN
        PERFORM pawl.jobs_wake(v_run.wait_key, format('{"run":%s,"key":%s,"state":"%s"}', p_id, to_json(v_run.key),
            CASE p_state WHEN 5 THEN 'completed' WHEN 6 THEN 'failed' ELSE 'cancelled' END)::json, 604800000);
    END IF;
    IF v_run.parent IS NOT NULL THEN
        UPDATE pawl.run r SET children_open = r.children_open - 1,
                              children_failed = r.children_failed + CASE WHEN p_state = 5 THEN 0 ELSE 1 END
         WHERE r.id = v_run.parent RETURNING r.* INTO v_parent;
        IF v_parent.state = 3 AND v_parent.children_open = 0 THEN
            PERFORM pawl.run_nest_end(v_parent, p_now);
        END IF;
    END IF;
END
$$;
