-- run_pace: changes how fast the whole fleet works on a run.
-- params: p_run bigint; p_concurrency integer, p_rate integer (-1: leave it), p_rate_ms bigint; p_hold_ms bigint: no page starts before
-- returns: 1 applied, 4 conflict (its pages have no key, or it has ended), 6 not found
-- tables: run, job_limit, job_key (updated)
-- locks: the run, job_fair, the key
CREATE OR REPLACE FUNCTION pawl.run_pace(p_run bigint, p_concurrency integer, p_rate integer, p_rate_ms bigint, p_hold_ms bigint)
    RETURNS smallint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
    v_run pawl.run;
BEGIN
    SELECT * INTO v_run FROM pawl.run r WHERE r.id = p_run FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 6;
    ELSIF NOT v_run.paced OR v_run.state >= 5 THEN
        RETURN 4;
    END IF;
    IF p_concurrency >= 0 THEN
        v_run.concurrency := p_concurrency;
    END IF;
    IF p_rate >= 0 THEN
        v_run.rate := p_rate;
        v_run.rate_ms := p_rate_ms;
    END IF;
    IF p_hold_ms > 0 AND v_run.rate = 0 THEN
        v_run.rate := 1000;
        v_run.rate_ms := 1000;
    END IF;
    UPDATE pawl.run r SET concurrency = v_run.concurrency, rate = v_run.rate, rate_ms = v_run.rate_ms WHERE r.id = p_run;
    PERFORM pawl.job_limit_set('run:' || p_run, v_run.concurrency, v_run.rate, v_run.rate_ms, 1);
    IF p_hold_ms > 0 THEN
        PERFORM 1 FROM pawl.job_fair FOR UPDATE;
        INSERT INTO pawl.job_key AS k (key, running, vtime, tat_us)
        VALUES ('run:' || p_run, 0, 0,
                (v_now + p_hold_ms) * 1000 + (v_run.rate - 1) * greatest(1, v_run.rate_ms * 1000 / v_run.rate))
        ON CONFLICT (key) DO UPDATE SET tat_us = greatest(k.tat_us, excluded.tat_us);
    END IF;
    RETURN 1;
END
$$;
