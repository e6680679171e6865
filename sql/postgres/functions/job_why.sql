-- job_why: what keeps a job from being done.
-- params: p_id bigint; its row comes from view_job_rows
-- returns: cause (enum job_why_cause of store/jobs.h; NULL: no such job), until_ms, ahead, limit, running, now_ms
-- tables: job, job_aside, job_claim, job_key, job_limit, instance (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.job_why(
    p_id bigint, OUT cause integer, OUT until_ms bigint, OUT ahead bigint, OUT most integer, OUT running integer, OUT now_ms bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_job record;
    v_limit record;
    v_tat bigint;
    v_pause bigint;
BEGIN
    SELECT CASE WHEN s.test_now_ms <> 0 THEN s.test_now_ms ELSE (extract(epoch FROM clock_timestamp()) * 1000)::bigint END
      INTO now_ms FROM pawl.settings s;
    SELECT j.*, (CASE WHEN j.token > 0 THEN 0 ELSE j.due_ms - j.priority * 60000::bigint END) AS ord INTO v_job
      FROM pawl.view_job_rows(ARRAY[p_id]) j;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    until_ms := 0;
    ahead := 0;
    most := 0;
    running := 0;
    IF v_job.state = 2 THEN
        until_ms := v_job.lease_until_ms;
        cause := CASE WHEN v_job.lease_until_ms <= now_ms THEN 2 ELSE 1 END;
        RETURN;
    ELSIF v_job.state = 3 THEN
        until_ms := v_job.due_ms;
        cause := 7;
        RETURN;
    ELSIF v_job.state = 4 THEN
        until_ms := CASE WHEN v_job.due_ms = 9223372036854775807 THEN 0 ELSE v_job.due_ms END;
        cause := 8;
        RETURN;
    ELSIF v_job.state = 5 THEN
        cause := 9;
        RETURN;
    END IF;
    IF NOT EXISTS (SELECT 1 FROM pawl.instance i WHERE i.state = 1 AND i.kinds & 16 <> 0 AND i.lease_until_ms > now_ms) THEN
        cause := 4;
        RETURN;
    END IF;
    IF v_job.key IS NOT NULL THEN
        SELECT l.* INTO v_limit FROM pawl.job_limits_of(v_job.key) l;
        SELECT k.running, k.tat_us INTO running, v_tat FROM pawl.job_key k WHERE k.key = v_job.key;
        running := coalesce(running, 0);
        most := v_limit.concurrency;
        IF v_limit.concurrency > 0 AND running >= v_limit.concurrency THEN
            cause := 5;
            RETURN;
        END IF;
        v_pause := greatest(1, v_limit.rate_ms * 1000 / greatest(v_limit.rate, 1));
        v_tat := greatest(coalesce(v_tat, 0), now_ms * 1000);
        IF v_limit.rate > 0 AND v_limit.rate - (v_tat - now_ms * 1000 + v_pause - 1) / v_pause <= 0 THEN
            cause := 6;
            until_ms := (v_tat - (v_limit.rate - 1) * v_pause + 999) / 1000;
            RETURN;
        END IF;
    END IF;
    cause := 3;
    SELECT count(*) INTO ahead FROM (
        SELECT 1 FROM pawl.job j
         WHERE j.queue = v_job.queue AND j.token = 0
           AND (j.key IS NULL AND v_job.key IS NULL OR j.key = v_job.key)
           AND (j.ord, j.id) < ((SELECT o.ord FROM pawl.job o WHERE o.id = p_id), p_id) LIMIT 5000) t;
END
$$;
