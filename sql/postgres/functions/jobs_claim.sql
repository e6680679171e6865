-- jobs_claim: leases due jobs of a queue.
-- params: p_instance uuid, p_queue text, p_max integer, p_lease_ms bigint, p_request uuid: makes the call repeatable
-- returns: the granted jobs in the order of their due time, priorities counted in
-- tables: job (updated), job_claim (inserted), those of jobs_sweep, jobs_promote and job_claim_keyed, request, job_tally
-- locks: the request key; jobs (skip locked); job_fair and keys when there is keyed work
CREATE OR REPLACE FUNCTION pawl.jobs_claim(p_instance uuid, p_queue text, p_max integer, p_lease_ms bigint, p_request uuid)
    RETURNS SETOF pawl.job_item
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    v_now bigint := pawl.now_ms();
    v_token bigint;
    v_keyed bigint[] := '{}';
    v_plain integer;
    v_turn boolean;
    v_first integer;
    v_ids bigint[];
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pawl.instance i WHERE i.id = p_instance AND i.state = 1 AND i.lease_until_ms > v_now) THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = 'this instance was evicted or has fallen silent: register anew';
    END IF;
    IF p_request IS NOT NULL AND NOT pawl.request_take(p_request, v_now) THEN
        RETURN QUERY SELECT i.* FROM pawl.job_claim c
                       CROSS JOIN LATERAL pawl.job_items(c.token, c.ids, c.lease_until_ms) i
                      WHERE c.request = p_request AND c.instance = p_instance AND c.state = 1;
        RETURN;
    END IF;
    PERFORM 1 FROM pawl.job_sweep s WHERE NOT v_now - s.swept_ms BETWEEN 0 AND 999;
    IF FOUND THEN
        PERFORM pawl.jobs_sweep(p_instance, v_now);
    END IF;
    PERFORM 1 FROM pawl.job_aside a WHERE a.state IN (3, 4) AND a.due_ms <= v_now ORDER BY a.due_ms, a.id LIMIT 1;
    IF FOUND THEN
        PERFORM pawl.jobs_promote(v_now);
    END IF;
    PERFORM 1 FROM pawl.job j WHERE j.deadline_ms <= v_now AND j.token = 0 ORDER BY j.deadline_ms, j.id LIMIT 1;
    IF FOUND THEN
        PERFORM pawl.jobs_overdue(p_instance, v_now);
    END IF;
    IF EXISTS (SELECT 1 FROM pawl.job j WHERE j.queue = p_queue AND j.ready_key IS NOT NULL) THEN
        SELECT f.turn INTO v_turn FROM pawl.job_fair f FOR UPDATE;
        UPDATE pawl.job_fair f SET turn = NOT f.turn;
        v_token := pawl.token_next();
        v_first := CASE WHEN v_turn THEN p_max - p_max / 2 ELSE p_max / 2 END;
        IF v_first > 0 THEN
            v_keyed := pawl.job_claim_keyed(p_queue, v_first, v_token, v_now);
        END IF;
    END IF;
    v_plain := p_max - cardinality(v_keyed);
    IF v_token IS NULL THEN
        -- Plain work only: lease, note the claim and hand out in one statement.
        RETURN QUERY
        WITH picked AS MATERIALIZED (
            SELECT j.ctid AS place FROM pawl.job j WHERE j.queue = p_queue AND j.key IS NULL AND j.token = 0
             ORDER BY j.ord, j.id LIMIT v_plain FOR UPDATE SKIP LOCKED),
        grant_token AS MATERIALIZED (SELECT pawl.token_next() AS token WHERE EXISTS (SELECT 1 FROM picked)),
        leased AS (
            UPDATE pawl.job j SET token = (SELECT g.token FROM grant_token g), attempts = j.attempts + 1
             WHERE j.ctid = ANY (ARRAY(SELECT p.place FROM picked p)) RETURNING j.*),
        noted AS (
            INSERT INTO pawl.job_claim (token, instance, queue, lease_until_ms, check_ms, began_ms, request, ids)
            SELECT g.token, p_instance, p_queue, v_now + p_lease_ms, v_now + p_lease_ms, v_now, p_request,
                   (SELECT array_agg(l.id ORDER BY l.ord, l.id) FROM leased l)
              FROM grant_token g),
        counted AS (
            INSERT INTO pawl.job_tally (queue, ready, running)
            SELECT p_queue, -count(*), count(*) FROM leased l HAVING count(*) > 0)
        SELECT l.id, l.token, v_now + p_lease_ms, l.type, l.queue, l.payload, l.task, l.key, l.unique_key, l.traceparent, l.schedule,
               l.progress, l.priority, l.attempts, l.max_attempts, l.flags, l.put_ms, l.due_ms, l.deadline_ms, l.timeout_ms,
               l.instant_ms, l.cancel_ms, l.agent
          FROM leased l ORDER BY l.ord, l.id;
        RETURN;
    END IF;
    WITH picked AS MATERIALIZED (
        SELECT j.ctid AS place FROM pawl.job j WHERE j.queue = p_queue AND j.key IS NULL AND j.token = 0
         ORDER BY j.ord, j.id LIMIT v_plain FOR UPDATE SKIP LOCKED),
    leased AS (
        UPDATE pawl.job j SET token = v_token, attempts = j.attempts + 1
         WHERE j.ctid = ANY (ARRAY(SELECT p.place FROM picked p)) RETURNING j.id)
    SELECT coalesce(array_agg(l.id), '{}') INTO v_ids FROM leased l;
    v_ids := v_ids || v_keyed;
    IF cardinality(v_ids) < p_max AND cardinality(v_keyed) = v_first THEN
        v_ids := v_ids || pawl.job_claim_keyed(p_queue, p_max - cardinality(v_ids), v_token, v_now);
    END IF;
    IF cardinality(v_ids) = 0 THEN
        RETURN;
    END IF;
    INSERT INTO pawl.job_claim (token, instance, queue, lease_until_ms, check_ms, began_ms, request, ids)
    SELECT v_token, p_instance, p_queue, v_now + p_lease_ms, v_now + p_lease_ms, v_now, p_request,
           array_agg(j.id ORDER BY j.ord, j.id)
      FROM pawl.job j WHERE j.id = ANY (v_ids);
    INSERT INTO pawl.job_tally (queue, ready, running) VALUES (p_queue, -cardinality(v_ids), cardinality(v_ids));
    RETURN QUERY SELECT i.* FROM pawl.job_claim c CROSS JOIN LATERAL pawl.job_items(c.token, c.ids, c.lease_until_ms) i
                  WHERE c.token = v_token;
END
$$;
