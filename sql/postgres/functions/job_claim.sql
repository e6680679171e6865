-- job_claim: claims of jobs: granting, renewing, expiring, keys.

-- name: job_claim_keyed
-- Leases keyed jobs: keys that have capacity first, then their jobs, in fair shares.
-- params: p_queue text, p_max integer, p_token bigint, p_now bigint; the row of job_fair is locked by the caller
-- returns: the ids
-- tables: job (updated), job_key, job_fair (updated)
-- locks: the keys, under job_fair
CREATE OR REPLACE FUNCTION pawl_internal.job_claim_keyed(p_queue text, p_max integer, p_token bigint, p_now bigint) RETURNS bigint[]
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET jit = off AS $$
DECLARE
    v_vtime bigint;
    v_ids bigint[];
    v_highest bigint;
BEGIN
    SELECT f.vtime INTO v_vtime FROM pawl_internal.job_fair f;
    WITH RECURSIVE found AS (
        (SELECT j.ready_key AS key FROM pawl_internal.job j WHERE j.queue = p_queue AND j.ready_key IS NOT NULL
          ORDER BY j.ready_key LIMIT 1)
        UNION ALL
        SELECT (SELECT j.ready_key FROM pawl_internal.job j WHERE j.queue = p_queue AND j.ready_key > f.key
                 ORDER BY j.ready_key LIMIT 1)
          FROM found f WHERE f.key IS NOT NULL),
    state AS (
        SELECT f.key, greatest(coalesce(k.vtime, 0), v_vtime) AS start, 1000000 / l.weight AS step,
               greatest(coalesce(k.tat_us, 0), p_now * 1000) AS tat, coalesce(k.running, 0) AS running, l.concurrency, l.rate,
               greatest(1, l.rate_ms * 1000 / greatest(l.rate, 1)) AS pause
          FROM found f LEFT JOIN pawl_internal.job_key k ON k.key = f.key CROSS JOIN LATERAL pawl_internal.job_limits_of(f.key) l
         WHERE f.key IS NOT NULL),
    open AS (
        SELECT s.*, least(CASE WHEN s.concurrency > 0 THEN s.concurrency - s.running ELSE p_max END,
                          CASE WHEN s.rate > 0 THEN s.rate - (s.tat - p_now * 1000 + s.pause - 1) / s.pause ELSE p_max END,
                          p_max) AS room
          FROM state s),
    chosen AS MATERIALIZED (SELECT o.* FROM open o WHERE o.room > 0 ORDER BY o.start, o.key LIMIT p_max),
    share AS (SELECT (2 * p_max + count(*) - 1) / greatest(count(*), 1) AS most FROM chosen),
    offer AS (
        SELECT c.key, o.id, c.start + (o.n - 1) * c.step AS tag, o.n
          FROM chosen c CROSS JOIN share
         CROSS JOIN LATERAL (SELECT r.id, row_number() OVER (ORDER BY r.ord, r.id) AS n
                               FROM (SELECT j.id, j.ord FROM pawl_internal.job j WHERE j.queue = p_queue AND j.ready_key = c.key
                                      ORDER BY j.ord, j.id LIMIT least(c.room, share.most)) r) o),
    picked AS MATERIALIZED (SELECT o.* FROM offer o ORDER BY o.tag, o.key, o.n LIMIT p_max),
    leased AS (
        UPDATE pawl_internal.job j SET token = p_token, attempts = j.attempts + 1, ready_key = NULL
         WHERE j.id = ANY (ARRAY(SELECT p.id FROM picked p)) AND j.ready_key IS NOT NULL RETURNING j.id, j.key),
    granted AS (SELECT l.key, count(*)::integer AS leases FROM leased l GROUP BY l.key),
    kept AS (
        INSERT INTO pawl_internal.job_key AS k (key, running, vtime, tat_us)
        SELECT g.key, g.leases, c.start + g.leases * c.step, CASE WHEN c.rate > 0 THEN c.tat + g.leases * c.pause ELSE 0 END
          FROM granted g JOIN chosen c ON c.key = g.key
        ON CONFLICT (key) DO UPDATE SET running = k.running + excluded.running, vtime = excluded.vtime, tat_us = excluded.tat_us)
    SELECT array_agg(l.id), (SELECT max(p.tag) FROM picked p) INTO v_ids, v_highest FROM leased l;
    IF v_ids IS NOT NULL THEN
        UPDATE pawl_internal.job_fair f SET vtime = greatest(f.vtime, v_highest);
    END IF;
    RETURN coalesce(v_ids, '{}');
END
$$;

-- name: job_claim_leave
-- Jobs leave the claim that listed them; a claim without jobs is done.
-- params: p_claim pawl_internal.job_claim (locked by the caller), p_ids bigint[], p_reported boolean: they were reported by their holder
-- tables: job_claim (updated)
CREATE OR REPLACE FUNCTION pawl_internal.job_claim_leave(p_claim pawl_internal.job_claim, p_ids bigint[], p_reported boolean) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_left bigint[];
BEGIN
    IF cardinality(p_ids) >= cardinality(p_claim.ids) THEN
        v_left := '{}';
    ELSE
        SELECT coalesce(array_agg(u.id ORDER BY u.n), '{}') INTO v_left
          FROM unnest(p_claim.ids) WITH ORDINALITY AS u(id, n)
          LEFT JOIN unnest(p_ids) AS g(id) ON g.id = u.id
         WHERE g.id IS NULL;
    END IF;
    UPDATE pawl_internal.job_claim c
       SET ids = v_left,
           state = CASE WHEN cardinality(v_left) = 0 THEN :CLAIM_DONE ELSE :CLAIM_ACTIVE END,
           intact = c.intact AND p_reported,
           done_ids = CASE WHEN NOT p_reported THEN c.done_ids
                           WHEN c.intact AND cardinality(v_left) = 0 AND cardinality(c.done_ids) = 0 THEN NULL
                           ELSE c.done_ids || p_ids END
     WHERE c.token = p_claim.token;
END
$$;

-- name: job_claim_lose
-- Jobs of a claim that was not reported in time.
-- params: p_claim pawl_internal.job_claim (locked), p_all boolean: all of them, else those whose lease has expired; p_give_back boolean: their
--   holder said goodbye, so no attempt is burnt and nothing is recorded; p_caller uuid: whose audit chain; p_now bigint
-- returns: how many
-- tables: job, job_claim, those of job_lost, job_tally
-- locks: the jobs, job_fair and the keys, the head of the caller's audit chain
CREATE OR REPLACE FUNCTION pawl_internal.job_claim_lose(
    p_claim pawl_internal.job_claim, p_all boolean, p_give_back boolean, p_caller uuid, p_now bigint) RETURNS integer
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_job pawl_internal.job;
    v_states smallint[] := '{}';
    v_outcomes smallint[] := '{}';
    v_lost bigint := 0;
    v_keys text[] := '{}';
    v_ids bigint[] := '{}';
    v_entries bytea := '';
    v_block bigint := nextval('pawl_internal.run_seq');
    v_end record;
    v_check bigint;
BEGIN
    FOR v_job IN SELECT j.* FROM pawl_internal.job j
                  WHERE j.id = ANY (p_claim.ids) AND j.token = p_claim.token
                    AND (p_all OR coalesce(j.lease_until_ms, p_claim.lease_until_ms) <= p_now)
                  ORDER BY j.id FOR UPDATE LOOP
        v_ids := v_ids || v_job.id;
        IF v_job.key IS NOT NULL THEN
            v_keys := v_keys || v_job.key;
        END IF;
        IF p_give_back AND v_job.cancel_ms IS NULL THEN
            UPDATE pawl_internal.job j SET token = 0, lease_until_ms = NULL, ready_key = j.key, attempts = j.attempts - 1,
                                  flags = j.flags & ~:JOB_BEGUN, due_ms = p_now, ord = p_now - j.priority * 60000::bigint
             WHERE j.id = v_job.id;
            v_states := v_states || :JOB_READY::smallint;
            v_outcomes := v_outcomes || 0::smallint;
            CONTINUE;
        END IF;
        SELECT e.state, e.outcome, e.entry INTO v_end
          FROM pawl_internal.job_lost(v_job, p_claim.instance, v_block, octet_length(v_entries) / 40, p_now) e;
        v_states := v_states || v_end.state;
        v_outcomes := v_outcomes || v_end.outcome;
        v_lost := v_lost + 1;
        v_entries := v_entries || coalesce(v_end.entry, '');
    END LOOP;
    IF cardinality(v_ids) > 0 THEN
        PERFORM pawl_internal.job_claim_leave(p_claim, v_ids, false);
        PERFORM pawl_internal.job_tally_add(p_claim.queue, v_states, v_outcomes, v_lost);
        PERFORM pawl_internal.job_keys_free(v_keys);
        PERFORM pawl_internal.audit_seal(v_block, p_caller, v_entries, p_now);
    END IF;
    IF cardinality(v_ids) < cardinality(p_claim.ids) THEN
        SELECT min(coalesce(j.lease_until_ms, p_claim.lease_until_ms)) INTO v_check FROM pawl_internal.job j
         WHERE j.id = ANY (p_claim.ids) AND j.token = p_claim.token;
        UPDATE pawl_internal.job_claim c SET check_ms = v_check WHERE c.token = p_claim.token;
    END IF;
    RETURN cardinality(v_ids);
END
$$;

-- name: job_claims_lock
-- What the loss of several claims needs besides them, when pages of runs die with it.
-- params: p_claims pawl_internal.job_claim[] (locked by the caller)
-- tables: job (read), those of run_jobs_lock
-- locks: the jobs of runs that may end for good, by id, then those of run_jobs_lock
CREATE OR REPLACE FUNCTION pawl_internal.job_claims_lock(p_claims pawl_internal.job_claim[]) RETURNS void
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET jit = off AS $$
BEGIN
    PERFORM pawl_internal.run_jobs_lock(ARRAY(
        SELECT j.unique_key FROM unnest(p_claims) AS c CROSS JOIN LATERAL unnest(c.ids) AS i(id)
          JOIN pawl_internal.job j ON j.id = i.id AND j.token = c.token
         WHERE j.flags & :JOB_RUN <> 0 AND (j.cancel_ms IS NOT NULL OR j.attempts >= j.max_attempts)
         ORDER BY j.id FOR UPDATE OF j));
END
$$;

-- name: job_items
-- The unfinished jobs of a claim, as claim returns them.
-- params: p_token bigint, p_ids bigint[], p_lease_until_ms bigint: of the claim
-- returns: rows by (ord, id)
-- tables: job (read)
CREATE OR REPLACE FUNCTION pawl_internal.job_items(p_token bigint, p_ids bigint[], p_lease_until_ms bigint) RETURNS SETOF pawl_internal.job_item
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET jit = off AS $$
BEGIN
    RETURN QUERY
    SELECT l.id, l.token, coalesce(l.lease_until_ms, p_lease_until_ms), l.type, l.queue, l.payload, l.task, l.key, l.unique_key,
           l.traceparent, l.schedule, l.progress, l.priority, l.attempts, l.max_attempts, l.flags, l.put_ms, l.due_ms,
           l.deadline_ms, l.timeout_ms, l.instant_ms, l.cancel_ms, l.agent
      FROM pawl_internal.job l WHERE l.id = ANY (p_ids) AND l.token = p_token ORDER BY l.ord, l.id;
END
$$;

-- name: job_keys_free
-- Leases of these keys have ended.
-- params: p_keys text[]: one member per lease
-- tables: job_key (updated)
-- locks: the row of job_fair, then the keys
CREATE OR REPLACE FUNCTION pawl_internal.job_keys_free(p_keys text[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF cardinality(p_keys) > 0 THEN
        PERFORM 1 FROM pawl_internal.job_fair FOR UPDATE;
        UPDATE pawl_internal.job_key k SET running = k.running - g.leases
          FROM (SELECT u.key, count(*)::integer AS leases FROM unnest(p_keys) AS u(key) GROUP BY u.key) g
         WHERE k.key = g.key;
    END IF;
END
$$;

-- name: job_limits_of
-- The limits that apply to a key: its own, else those of its prefix, else none.
-- params: p_key text
-- returns: concurrency (0: none), rate (0: none), rate_ms, weight
-- tables: job_limit (read)
CREATE OR REPLACE FUNCTION pawl_internal.job_limits_of(
    p_key text, OUT concurrency integer, OUT rate integer, OUT rate_ms bigint, OUT weight integer)
LANGUAGE plpgsql STABLE AS $$
BEGIN
    SELECT l.concurrency, l.rate, l.rate_ms, l.weight INTO concurrency, rate, rate_ms, weight
      FROM pawl_internal.job_limit l WHERE l.key = p_key;
    IF NOT FOUND AND position(':' IN p_key) > 0 THEN
        SELECT l.concurrency, l.rate, l.rate_ms, l.weight INTO concurrency, rate, rate_ms, weight
          FROM pawl_internal.job_limit l WHERE l.key = split_part(p_key, ':', 1) || ':*';
    END IF;
    concurrency := coalesce(concurrency, 0);
    rate := coalesce(rate, 0);
    rate_ms := coalesce(rate_ms, 0);
    weight := coalesce(weight, 1);
END
$$;

-- name: job_lost
-- An execution that ended because its lease expired or its worker died.
-- params: p_job pawl_internal.job (locked), p_instance uuid: its holder; p_block, p_place: where its audit row goes; p_now bigint
-- returns: state (0: it is gone) and outcome, as job_tally_add counts them; entry of the audit row
-- tables: job (updated or deleted), those of job_record, job_dies, job_gone
-- locks: the unique key
CREATE OR REPLACE FUNCTION pawl_internal.job_lost(
    p_job pawl_internal.job, p_instance uuid, p_block bigint, p_place integer, p_now bigint, OUT state smallint,
    OUT outcome smallint, OUT entry bytea)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    -- A worker that gives its slots reports what begins (jobs_renew); otherwise the lease is the start.
    v_began boolean := p_job.flags & :JOB_BEGUN <> 0
                       OR NOT EXISTS (SELECT 1 FROM pawl_internal.instance i WHERE i.id = p_instance AND i.slots > 0);
    v_reason smallint := CASE WHEN v_began AND p_job.attempts >= p_job.max_attempts THEN :JOB_DEAD_KILLED WHEN p_job.deadline_ms <= p_now THEN :JOB_DEAD_DEADLINE END;
BEGIN
    outcome := CASE WHEN p_job.cancel_ms IS NOT NULL THEN :RUN_CANCELLED WHEN v_reason IS NOT NULL THEN :RUN_DEAD ELSE :RUN_LOST END;
    entry := pawl_internal.job_record(p_job, outcome, p_instance, p_now, 0, NULL, NULL, NULL, NULL, NULL, p_block, p_place);
    IF p_job.cancel_ms IS NOT NULL THEN
        DELETE FROM pawl_internal.job j WHERE j.id = p_job.id;
        PERFORM pawl_internal.job_gone(p_job, :RUN_JOB_CANCELLED::smallint, p_now);
        state := 0;
    ELSIF v_reason IS NOT NULL THEN
        DELETE FROM pawl_internal.job j WHERE j.id = p_job.id;
        PERFORM pawl_internal.job_dies(p_job, v_reason, NULL, p_now);
        state := :JOB_DEAD;
    ELSE
        UPDATE pawl_internal.job j SET token = 0, lease_until_ms = NULL, ready_key = j.key, attempts = j.attempts - (NOT v_began)::integer,
                              flags = CASE WHEN v_began THEN j.flags & ~:JOB_BEGUN WHEN j.flags & :JOB_LOST <> 0 THEN j.flags | 24 ELSE j.flags | 8 END
         WHERE j.id = p_job.id;
        state := :JOB_READY;
    END IF;
END
$$;

-- name: jobs_claim
-- Leases due jobs of a queue; none while it is paused.
-- params: p_instance uuid, p_queue text, p_max integer, p_lease_ms bigint, p_request uuid: makes the call repeatable
-- returns: the granted jobs in the order of their due time, priorities counted in
-- tables: job (updated), job_claim (inserted), those of jobs_sweep, jobs_promote and job_claim_keyed, request, job_tally, pause (read)
-- locks: the request key; jobs (skip locked); job_fair and keys when there is keyed work
CREATE OR REPLACE FUNCTION pawl_internal.jobs_claim(p_instance uuid, p_queue text, p_max integer, p_lease_ms bigint, p_request uuid)
    RETURNS SETOF pawl_internal.job_item
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_token bigint;
    v_keyed bigint[] := '{}';
    v_plain integer;
    v_turn boolean;
    v_first integer;
    v_ids bigint[];
BEGIN
    IF p_max NOT BETWEEN 0 AND 5000 THEN
        PERFORM pawl_internal.refuse_range('max', p_max, 0, 5000);
    END IF;
    IF NOT EXISTS (SELECT 1 FROM pawl_internal.instance i WHERE i.id = p_instance AND i.state = :INSTANCE_ACTIVE AND i.lease_until_ms > v_now) THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = 'this instance was evicted or has fallen silent: register again';
    END IF;
    IF p_request IS NOT NULL AND NOT pawl_internal.request_take(p_request, v_now) THEN
        RETURN QUERY SELECT i.* FROM pawl_internal.job_claim c
                       CROSS JOIN LATERAL pawl_internal.job_items(c.token, c.ids, c.lease_until_ms) i
                      WHERE c.request = p_request AND c.instance = p_instance AND c.state = :CLAIM_ACTIVE;
        RETURN;
    END IF;
    PERFORM 1 FROM pawl_internal.job_sweep s WHERE NOT v_now - s.swept_ms BETWEEN 0 AND 999;
    IF FOUND THEN
        PERFORM pawl_internal.jobs_sweep(p_instance, v_now);
    END IF;
    PERFORM 1 FROM pawl_internal.job_aside a WHERE a.state <> :JOB_DEAD AND a.due_ms <= v_now ORDER BY a.due_ms, a.id LIMIT 1;
    IF FOUND THEN
        PERFORM pawl_internal.jobs_promote(v_now);
    END IF;
    PERFORM 1 FROM pawl_internal.job j WHERE j.deadline_ms <= v_now AND j.token = 0 ORDER BY j.deadline_ms, j.id LIMIT 1;
    IF FOUND THEN
        PERFORM pawl_internal.jobs_overdue(p_instance, v_now);
    END IF;
    IF EXISTS (SELECT 1 FROM pawl_internal.pause p WHERE p.scope = :PAUSE_QUEUE AND p.name = p_queue) THEN
        RETURN;
    END IF;
    IF EXISTS (SELECT 1 FROM pawl_internal.job j WHERE j.queue = p_queue AND j.ready_key IS NOT NULL) THEN
        SELECT f.turn INTO v_turn FROM pawl_internal.job_fair f FOR UPDATE;
        UPDATE pawl_internal.job_fair f SET turn = NOT f.turn;
        v_token := pawl_internal.token_next();
        v_first := CASE WHEN v_turn THEN p_max - p_max / 2 ELSE p_max / 2 END;
        IF v_first > 0 THEN
            v_keyed := pawl_internal.job_claim_keyed(p_queue, v_first, v_token, v_now);
        END IF;
    END IF;
    v_plain := p_max - cardinality(v_keyed);
    IF v_token IS NULL THEN
        -- Plain work only: lease, note the claim and hand out in one statement.
        RETURN QUERY
        WITH picked AS MATERIALIZED (
            SELECT j.ctid AS place FROM pawl_internal.job j WHERE j.queue = p_queue AND j.key IS NULL AND j.token = 0
             ORDER BY j.ord, j.id LIMIT v_plain FOR UPDATE SKIP LOCKED),
        grant_token AS MATERIALIZED (SELECT pawl_internal.token_next() AS token WHERE EXISTS (SELECT 1 FROM picked)),
        leased AS (
            UPDATE pawl_internal.job j SET token = (SELECT g.token FROM grant_token g), attempts = j.attempts + 1
             WHERE j.ctid = ANY (ARRAY(SELECT p.place FROM picked p)) RETURNING j.*),
        noted AS (
            INSERT INTO pawl_internal.job_claim (token, instance, queue, lease_until_ms, check_ms, began_ms, request, ids)
            SELECT g.token, p_instance, p_queue, v_now + p_lease_ms, v_now + p_lease_ms, v_now, p_request,
                   (SELECT array_agg(l.id ORDER BY l.ord, l.id) FROM leased l)
              FROM grant_token g),
        counted AS (
            INSERT INTO pawl_internal.job_tally (queue, ready, running)
            SELECT p_queue, -count(*), count(*) FROM leased l HAVING count(*) > 0)
        SELECT l.id, l.token, v_now + p_lease_ms, l.type, l.queue, l.payload, l.task, l.key, l.unique_key, l.traceparent, l.schedule,
               l.progress, l.priority, l.attempts, l.max_attempts, l.flags, l.put_ms, l.due_ms, l.deadline_ms, l.timeout_ms,
               l.instant_ms, l.cancel_ms, l.agent
          FROM leased l ORDER BY l.ord, l.id;
        RETURN;
    END IF;
    WITH picked AS MATERIALIZED (
        SELECT j.ctid AS place FROM pawl_internal.job j WHERE j.queue = p_queue AND j.key IS NULL AND j.token = 0
         ORDER BY j.ord, j.id LIMIT v_plain FOR UPDATE SKIP LOCKED),
    leased AS (
        UPDATE pawl_internal.job j SET token = v_token, attempts = j.attempts + 1
         WHERE j.ctid = ANY (ARRAY(SELECT p.place FROM picked p)) RETURNING j.id)
    SELECT coalesce(array_agg(l.id), '{}') INTO v_ids FROM leased l;
    v_ids := v_ids || v_keyed;
    IF cardinality(v_ids) < p_max AND cardinality(v_keyed) = v_first THEN
        v_ids := v_ids || pawl_internal.job_claim_keyed(p_queue, p_max - cardinality(v_ids), v_token, v_now);
    END IF;
    IF cardinality(v_ids) = 0 THEN
        RETURN;
    END IF;
    INSERT INTO pawl_internal.job_claim (token, instance, queue, lease_until_ms, check_ms, began_ms, request, ids)
    SELECT v_token, p_instance, p_queue, v_now + p_lease_ms, v_now + p_lease_ms, v_now, p_request,
           array_agg(j.id ORDER BY j.ord, j.id)
      FROM pawl_internal.job j WHERE j.id = ANY (v_ids);
    INSERT INTO pawl_internal.job_tally (queue, ready, running) VALUES (p_queue, -cardinality(v_ids), cardinality(v_ids));
    RETURN QUERY SELECT i.* FROM pawl_internal.job_claim c CROSS JOIN LATERAL pawl_internal.job_items(c.token, c.ids, c.lease_until_ms) i
                  WHERE c.token = v_token;
END
$$;

-- name: jobs_instance_end
-- An instance was evicted or said goodbye: its jobs come back.
-- params: p_id uuid, p_how smallint (4 evicted, 2 released), p_now bigint
-- tables: those of job_claim_lose
-- locks: its claims by token, then those of job_claims_lock and job_claim_lose
CREATE OR REPLACE FUNCTION pawl_internal.jobs_instance_end(p_id uuid, p_how smallint, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_claim pawl_internal.job_claim;
    v_claims pawl_internal.job_claim[] := ARRAY(
        SELECT c FROM pawl_internal.job_claim c WHERE c.instance = p_id AND c.state = :CLAIM_ACTIVE ORDER BY c.token FOR UPDATE);
BEGIN
    PERFORM pawl_internal.job_claims_lock(v_claims);
    FOREACH v_claim IN ARRAY v_claims LOOP
        PERFORM pawl_internal.job_claim_lose(v_claim, true, p_how = 2, p_id, p_now);
    END LOOP;
END
$$;

-- name: jobs_overdue
-- Ready jobs whose deadline has come die before they start.
-- params: p_caller uuid: whose audit chain; p_now bigint
-- tables: job (deleted), those of job_record and job_dies, job_tally
-- locks: the jobs (skip locked), unique keys, the head of the caller's audit chain
CREATE OR REPLACE FUNCTION pawl_internal.jobs_overdue(p_caller uuid, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET jit = off SET enable_bitmapscan = off AS $$
DECLARE
    v_job pawl_internal.job;
    v_entries bytea := '';
    v_block bigint := nextval('pawl_internal.run_seq');
BEGIN
    FOR v_job IN SELECT j.* FROM pawl_internal.job j WHERE j.deadline_ms <= p_now AND j.token = 0
                  ORDER BY j.deadline_ms, j.id LIMIT 1000 FOR UPDATE SKIP LOCKED LOOP
        DELETE FROM pawl_internal.job j WHERE j.id = v_job.id;
        v_entries := v_entries || coalesce(pawl_internal.job_record(v_job, :RUN_DEAD::smallint, NULL, p_now, 0, NULL, NULL, NULL, NULL, NULL, v_block,
                                                         octet_length(v_entries) / 40), '');
        PERFORM pawl_internal.job_dies(v_job, :JOB_DEAD_DEADLINE::smallint, NULL, p_now);
        INSERT INTO pawl_internal.job_tally (queue, ready, dead, died) VALUES (v_job.queue, -1, 1, 1);
    END LOOP;
    PERFORM pawl_internal.audit_seal(v_block, p_caller, v_entries, p_now);
END
$$;

-- name: jobs_promote
-- Work that has become due joins the ready work.
-- params: p_now bigint
-- tables: job_aside (deleted), job (inserted), job_tally
-- locks: the jobs (skip locked)
CREATE OR REPLACE FUNCTION pawl_internal.jobs_promote(p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_ids bigint[];
BEGIN
    v_ids := ARRAY(SELECT a.id FROM pawl_internal.job_aside a WHERE a.state <> :JOB_DEAD AND a.due_ms <= p_now
                    ORDER BY a.due_ms, a.id LIMIT 1000 FOR UPDATE SKIP LOCKED);
    IF cardinality(v_ids) = 0 THEN
        RETURN;
    END IF;
    UPDATE pawl_internal.job_aside a SET wait_key = NULL, wait_step = NULL WHERE a.id = ANY (v_ids) AND a.wait_key IS NOT NULL;
    WITH due AS (DELETE FROM pawl_internal.job_aside a WHERE a.id = ANY (v_ids) RETURNING a.*),
    moved AS (INSERT INTO pawl_internal.job SELECT d.* FROM due d)
    INSERT INTO pawl_internal.job_tally (queue, {{job_gauge}})
    SELECT d.queue, {{each job_gauge: count(*) FILTER (WHERE :JOB_@ = :JOB_READY) - count(*) FILTER (WHERE d.state = :JOB_@)}} FROM due d GROUP BY d.queue;
END
$$;

-- name: jobs_renew
-- Jobs stay with their holder longer; says which are to be cancelled.
-- params: p_instance, and one array member per item: p_tokens, p_ids (0: every job of the token), p_progress json[]; p_lease_ms
-- returns: answers (1 applied, 3 stale), cancels
-- tables: job, job_claim (updated)
-- locks: the claims by token, then the jobs
CREATE OR REPLACE FUNCTION pawl_internal.jobs_renew(
    p_instance uuid, p_tokens bigint[], p_ids bigint[], p_progress json[], p_lease_ms bigint, OUT answers smallint[],
    OUT cancels smallint[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_until bigint := pawl_internal.now_ms() + pawl_internal.refuse_range('lease_ms', p_lease_ms, 0, 86400000);
    v_claim pawl_internal.job_claim;
    v_cancel boolean;
BEGIN
    {{items p_tokens, p_ids, p_progress?}}
    answers := array_fill(:ANSWER_STALE::smallint, ARRAY[coalesce(cardinality(p_ids), 0)]);
    cancels := array_fill(0::smallint, ARRAY[coalesce(cardinality(p_ids), 0)]);
    PERFORM 1 FROM pawl_internal.job_claim c WHERE c.token = ANY (p_tokens) AND c.instance = p_instance AND c.state = :CLAIM_ACTIVE
      ORDER BY c.token FOR UPDATE;
    FOR i IN 1 .. coalesce(cardinality(p_ids), 0) LOOP
        SELECT * INTO v_claim FROM pawl_internal.job_claim c WHERE c.token = p_tokens[i] AND c.instance = p_instance AND c.state = :CLAIM_ACTIVE;
        CONTINUE WHEN NOT FOUND;
        WITH kept AS (
            UPDATE pawl_internal.job j SET lease_until_ms = v_until, flags = j.flags | 32, progress = coalesce(p_progress[i], j.progress)
             WHERE j.id = ANY (CASE WHEN p_ids[i] = 0 THEN v_claim.ids ELSE ARRAY[p_ids[i]] END) AND j.token = v_claim.token
            RETURNING j.cancel_ms)
        SELECT bool_or(k.cancel_ms IS NOT NULL) INTO v_cancel FROM kept k;
        IF v_cancel IS NOT NULL THEN
            answers[i] := 1;
            cancels[i] := v_cancel::integer;
            -- Leases may become shorter, too.
            UPDATE pawl_internal.job_claim c SET check_ms = least(c.check_ms, v_until) WHERE c.token = v_claim.token AND c.check_ms > v_until;
        END IF;
    END LOOP;
END
$$;
