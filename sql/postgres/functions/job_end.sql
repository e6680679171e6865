-- job_end: ending jobs: done, failed, dead, lost.

-- name: job_answers
-- One report on all the jobs that a caller names.
-- params: as jobs_report; p_outcome, p_class, p_delay: the same for all
-- returns: a word for each
-- tables: those of jobs_report
-- locks: those of jobs_report
CREATE OR REPLACE FUNCTION pawl_internal.job_answers(
    p_instance uuid, p_tokens bigint[], p_ids bigint[], p_outcome smallint, p_class smallint, p_delay bigint, p_outputs json[],
    p_errors text[]) RETURNS text[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_count integer[] := ARRAY[coalesce(cardinality(p_ids), 0)];
BEGIN
    RETURN (SELECT pawl_internal.answer_words(r.answers)
              FROM pawl_internal.jobs_report(
                       pawl_internal.needed('instance', p_instance), p_tokens, p_ids,
                       CASE WHEN p_outcome <> :JOB_COMPLETE OR p_outputs IS NOT NULL THEN array_fill(p_outcome, v_count) END,
                       array_fill(coalesce(p_class, 0::smallint), v_count), array_fill(coalesce(p_delay, 0), v_count), NULL, p_outputs,
                       p_errors, NULL, NULL, NULL, NULL, NULL) r);
END
$$;

-- name: job_complete
-- Completes one job inside the caller's own transaction, so that its effect and its end are one.
-- params: p_instance, p_token, p_id: as granted (p_instance NULL: the instance the token was granted to); p_output json;
--   p_duration_ms: how long the execution took
-- returns: nothing; raises PW004 when the grant has ended, which undoes the caller's transaction
-- tables: those of jobs_report
-- locks: those of jobs_report
CREATE OR REPLACE FUNCTION pawl_internal.job_complete(
    p_instance uuid, p_token bigint, p_id bigint, p_output json DEFAULT NULL, p_duration_ms bigint DEFAULT 0) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_answers smallint[];
BEGIN
    SELECT r.answers INTO v_answers
      FROM pawl_internal.jobs_report(coalesce(p_instance, (SELECT c.instance FROM pawl_internal.job_claim c WHERE c.token = p_token)),
                            ARRAY[p_token], ARRAY[p_id], NULL, NULL, NULL, ARRAY[p_duration_ms],
                            CASE WHEN p_output IS NOT NULL THEN ARRAY[p_output] END, NULL, NULL, NULL, NULL, NULL, NULL) r;
    IF v_answers[1] <> 1 THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004',
            MESSAGE = format('job %s is not held under token %s any more: another worker has it or it has ended', p_id, p_token);
    END IF;
END
$$;

-- name: job_dies
-- A job that was taken out of its table becomes a dead letter.
-- params: p_job pawl_internal.job, p_reason smallint, p_error text (NULL: the one it has), p_now bigint
-- tables: job_aside (inserted), job_unique (deleted), those of run_job_ended when it is a run's
-- locks: the unique key, then those of run_job_ended
CREATE OR REPLACE FUNCTION pawl_internal.job_dies(p_job pawl_internal.job, p_reason smallint, p_error text, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF p_job.unique_key IS NOT NULL THEN
        DELETE FROM pawl_internal.job_unique u WHERE u.key = p_job.unique_key AND u.job = p_job.id;
    END IF;
    p_job.state := :JOB_DEAD;
    p_job.reason := p_reason;
    p_job.token := 0;
    p_job.flags := p_job.flags & 7; -- a redrive starts over
    p_job.lease_until_ms := NULL;
    p_job.ready_key := p_job.key;
    p_job.died_ms := p_now;
    p_job.error := coalesce(p_error, p_job.error);
    p_job.fingerprint := pawl_internal.fingerprint(coalesce(p_job.error, ''));
    INSERT INTO pawl_internal.job_aside VALUES (p_job.*);
    IF p_job.flags & :JOB_RUN <> 0 THEN
        PERFORM pawl_internal.run_job_ended(p_job, :RUN_JOB_DEAD::smallint, p_job.error, p_now);
    END IF;
END
$$;

-- name: job_end
-- One execution of a running job ends by report, other than by completion: the row leaves the table of running work.
-- params: p_job pawl_internal.job (locked), p_instance, and the item as in jobs_report; p_block, p_place: where its audit row goes; p_now
-- returns: result 0 none, 1 retry, 2 dead, 3 cancelled; state (0: it is gone) and outcome, as job_tally_add counts them; entry of the audit row
-- tables: job (deleted or updated), job_aside, job_step, job_signal, those of job_record, job_dies, job_gone
-- locks: unique and wait keys
CREATE OR REPLACE FUNCTION pawl_internal.job_end(
    p_job pawl_internal.job, p_instance uuid, p_outcome smallint, p_class smallint, p_delay bigint, p_duration bigint,
    p_error text, p_steps json, p_in text, p_out text, p_wait_key text, p_wait_step text, p_block bigint, p_place integer,
    p_now bigint, OUT result smallint, OUT state smallint, OUT outcome smallint, OUT entry bytea)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_due bigint;
    v_error text := pawl_internal.text_cut(p_error, 4096);
    v_reason smallint;
BEGIN
    result := 0;
    outcome := 0;
    DELETE FROM pawl_internal.job j WHERE j.id = p_job.id;
    IF p_job.cancel_ms IS NOT NULL THEN
        v_error := CASE WHEN v_error IS NULL THEN 'cancelled' WHEN starts_with(v_error, 'cancelled') THEN v_error
                        ELSE pawl_internal.text_cut('cancelled; it ended with: ' || v_error, 4096) END;
        entry := pawl_internal.job_record(p_job, :RUN_CANCELLED::smallint, p_instance, p_now, p_duration, NULL, v_error, p_steps, p_in, p_out, p_block,
                                p_place);
        PERFORM pawl_internal.job_gone(p_job, :RUN_JOB_CANCELLED::smallint, p_now);
        result := 3;
        state := 0;
        outcome := :RUN_CANCELLED;
        RETURN;
    END IF;
    IF p_outcome = :JOB_FAIL THEN
        v_due := p_now + CASE WHEN coalesce(p_delay, -1) < 0 THEN pawl_internal.retry_wait_ms(p_job.attempts) ELSE p_delay END;
        v_reason := CASE WHEN p_class = :CLASS_PERMANENT + 1 THEN :JOB_DEAD_REFUSED WHEN p_class = :CLASS_PERMANENT THEN :JOB_DEAD_PERMANENT
                         WHEN p_job.attempts >= p_job.max_attempts THEN :JOB_DEAD_ATTEMPTS WHEN v_due >= p_job.deadline_ms THEN :JOB_DEAD_DEADLINE END;
        entry := pawl_internal.job_record(p_job, CASE WHEN v_reason IS NULL THEN :RUN_FAILED ELSE :RUN_DEAD END::smallint, p_instance, p_now, p_duration, NULL,
                                v_error, p_steps, p_in, p_out, p_block, p_place);
        IF v_reason = :JOB_DEAD_REFUSED THEN
            INSERT INTO pawl_internal.refusal (agent, task, missing, job, made_ms)
            VALUES (coalesce(p_job.agent, (SELECT t.agent FROM pawl_internal.task t WHERE t.name = p_job.task)), p_job.task, coalesce(v_error, ''), p_job.id, p_now);
        END IF;
        IF v_reason IS NOT NULL THEN
            PERFORM pawl_internal.job_dies(p_job, v_reason, v_error, p_now);
            result := 2;
            state := :JOB_DEAD;
            outcome := :RUN_DEAD;
            RETURN;
        END IF;
        p_job.error := coalesce(v_error, p_job.error);
        result := 1;
        outcome := :RUN_FAILED;
    ELSE
        IF p_outcome = :JOB_RELEASE THEN
            p_job.error := coalesce(v_error, p_job.error);
        END IF;
        p_job.attempts := p_job.attempts - 1;
        v_due := CASE WHEN p_outcome = :JOB_WAIT AND coalesce(p_delay, -1) < 0 THEN 9223372036854775807 ELSE p_now + p_delay END;
    END IF;
    p_job.token := 0;
    p_job.flags := p_job.flags & CASE WHEN p_outcome = :JOB_RELEASE THEN ~32 ELSE 7 END; -- a reported job did not kill its worker
    p_job.lease_until_ms := NULL;
    p_job.ready_key := p_job.key;
    IF p_outcome = :JOB_WAIT THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('pawl.' || p_wait_key, 7));
        IF pawl_internal.signal_take(p_job.id, p_wait_key, p_wait_step, p_now) THEN
            v_due := p_now;
        ELSE
            p_job.wait_key := p_wait_key;
            p_job.wait_step := p_wait_step;
        END IF;
    END IF;
    p_job.special := p_job.special OR EXISTS (SELECT 1 FROM pawl_internal.job_step s WHERE s.job = p_job.id);
    p_job.due_ms := v_due;
    p_job.ord := CASE WHEN v_due = 9223372036854775807 THEN v_due ELSE v_due - p_job.priority * 60000::bigint END;
    IF p_job.wait_key IS NOT NULL THEN
        state := :JOB_WAITING;
    ELSIF v_due > p_now THEN
        state := :JOB_LATER;
    ELSE
        state := :JOB_READY;
    END IF;
    p_job.state := state;
    IF state = :JOB_READY THEN
        INSERT INTO pawl_internal.job VALUES (p_job.*);
    ELSE
        INSERT INTO pawl_internal.job_aside VALUES (p_job.*);
    END IF;
END
$$;

-- name: job_gone
-- What a job that ends for good takes with it.
-- params: p_job pawl_internal.job; p_how smallint: 1 completed, 2 cancelled; p_now bigint
-- tables: job_unique, job_step (deleted), those of run_job_ended when it is a run's
-- locks: the unique key, then those of run_job_ended
CREATE OR REPLACE FUNCTION pawl_internal.job_gone(p_job pawl_internal.job, p_how smallint, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF p_job.unique_key IS NOT NULL THEN
        DELETE FROM pawl_internal.job_unique u WHERE u.key = p_job.unique_key AND u.job = p_job.id;
    END IF;
    DELETE FROM pawl_internal.job_step s WHERE s.job = p_job.id;
    IF p_job.flags & :JOB_RUN <> 0 THEN
        PERFORM pawl_internal.run_job_ended(p_job, p_how, NULL, p_now);
    END IF;
END
$$;

-- name: job_record
-- What one execution leaves, by the flags of its job: a task_run row and an event on the spine.
-- params: p_job pawl_internal.job, p_outcome smallint (1 succeeded, 2 failed, 3 dead, 4 cancelled, 5 lost), p_instance uuid, p_now,
--   p_duration bigint, p_output json, p_error text, p_steps json, p_in text, p_out text, p_block bigint, p_place integer
-- returns: the entry of the row in its block (src/domain/authority/audit.h has the same); NULL without the flag audit
-- tables: task (read), task_run, spine (inserted)
CREATE OR REPLACE FUNCTION pawl_internal.job_record(
    p_job pawl_internal.job, p_outcome smallint, p_instance uuid, p_now bigint, p_duration bigint, p_output json, p_error text,
    p_steps json, p_in text, p_out text, p_block bigint, p_place integer) RETURNS bytea
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_id bigint;
    v_hash bytea;
    v_expires bigint;
BEGIN
    IF p_job.flags & :JOB_EVENTS <> 0 THEN
        INSERT INTO pawl_internal.spine (job, event, attempt, made_ms, instance, task, type, error, payload)
        VALUES (p_job.id, p_outcome, p_job.attempts, p_now, p_instance, p_job.task, p_job.type, p_error, p_output);
    END IF;
    IF p_job.flags & :JOB_AUDIT = 0 THEN
        RETURN NULL;
    END IF;
    v_id := nextval('pawl_internal.run_seq');
    v_expires := p_now + coalesce((SELECT nullif(t.retention_ms, 0) FROM pawl_internal.task t WHERE t.name = p_job.task), 2592000000);
    v_hash := pawl_internal.run_hash(v_id, p_job.id, p_job.task, p_job.type, p_job.queue, p_job.attempts, p_instance, p_job.token,
                            p_now - coalesce(p_duration, 0), p_now, p_outcome, p_in, p_out, p_output, p_error, p_steps,
                            v_expires);
    INSERT INTO pawl_internal.task_run (id, job, attempt, outcome, place, token, started_ms, finished_ms, expires_ms, block, instance,
                               queue, type, task, input_hash, output_hash, error, output, steps, hash)
    VALUES (v_id, p_job.id, p_job.attempts, p_outcome, p_place, p_job.token, p_now - coalesce(p_duration, 0), p_now, v_expires,
            p_block, p_instance, p_job.queue, p_job.type, p_job.task, p_in, p_out, p_error, p_output, p_steps, v_hash);
    RETURN v_hash || int8send(v_expires);
END
$$;

-- name: jobs_complete
-- Completes the jobs of a report together: their rows go, and what they leave is written in one go.
-- params: those of jobs_report; p_gone, p_gone_tokens bigint[]: what is completed already; p_block bigint, p_now bigint. The
--   caller has locked the claims.
-- returns: places of the items that were completed, and of those and of p_gone where they are named first; ids, tokens, keys (one
--   per lease) of the completed jobs; entries of their audit rows
-- tables: job, job_unique, job_step (deleted), task_run, spine, job_tally (inserted), those of run_job_ended for jobs of runs
-- locks: the jobs by id, their unique keys, those of run_job_ended
CREATE OR REPLACE FUNCTION pawl_internal.jobs_complete(
    p_instance uuid, p_tokens bigint[], p_ids bigint[], p_outcomes smallint[], p_durations bigint[], p_outputs json[],
    p_steps json[], p_ins text[], p_outs text[], p_gone bigint[], p_gone_tokens bigint[], p_block bigint, p_now bigint,
    OUT places integer[], OUT ids bigint[], OUT tokens bigint[], OUT keys text[], OUT entries bytea)
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_runs pawl_internal.job[];
    v_job pawl_internal.job;
BEGIN
    WITH item AS MATERIALIZED (
        SELECT DISTINCT ON (u.id, u.token) u.*
          FROM unnest(p_ids, p_tokens, p_outcomes, p_durations, p_outputs, p_steps, p_ins, p_outs)
               WITH ORDINALITY AS u(id, token, outcome, duration, output, steps, input_hash, output_hash, place)
         WHERE EXISTS (SELECT 1 FROM pawl_internal.job_claim c WHERE c.token = u.token AND c.instance = p_instance AND c.state = :CLAIM_ACTIVE)
         ORDER BY u.id, u.token, u.place),
    gone AS (
        DELETE FROM pawl_internal.job j USING item i
         WHERE j.id = i.id AND j.token = i.token AND j.token > 0 AND coalesce(i.outcome, 1) = 1
        RETURNING j.id, j.token, j.queue, j.type, j.task, j.key, j.unique_key, j.flags, j.attempts, i.place,
                  coalesce(i.duration, 0) AS duration, i.output, i.steps, i.input_hash, i.output_hash,
                  CASE WHEN j.flags & :JOB_RUN <> 0 THEN j END AS whole),
    run AS MATERIALIZED (
        SELECT g.*, nextval('pawl_internal.run_seq') AS run_id
          FROM (SELECT a.*, p_now + coalesce(nullif(t.retention_ms, 0), 2592000000) AS expires
                  FROM gone a LEFT JOIN pawl_internal.task t ON t.name = a.task WHERE a.flags & :JOB_AUDIT <> 0 ORDER BY a.place) g),
    hashed AS MATERIALIZED (
        SELECT r.*, row_number() OVER (ORDER BY r.place) - 1 AS row,
               pawl_internal.run_hash(r.run_id, r.id, r.task, r.type, r.queue, r.attempts, p_instance, r.token, p_now - r.duration, p_now,
                             1::smallint, r.input_hash, r.output_hash, r.output, NULL, r.steps, r.expires) AS hash
          FROM run r),
    recorded AS (
        INSERT INTO pawl_internal.task_run (id, job, attempt, outcome, place, token, started_ms, finished_ms, expires_ms, block, instance,
                                   queue, type, task, input_hash, output_hash, output, steps, hash)
        SELECT h.run_id, h.id, h.attempts, 1, h.row, h.token, p_now - h.duration, p_now, h.expires, p_block, p_instance, h.queue,
               h.type, h.task, h.input_hash, h.output_hash, h.output, h.steps, h.hash
          FROM hashed h),
    told AS (
        INSERT INTO pawl_internal.spine (job, event, attempt, made_ms, instance, task, type, payload)
        SELECT g.id, 1, g.attempts, p_now, p_instance, g.task, g.type, g.output FROM gone g WHERE g.flags & :JOB_EVENTS <> 0
         ORDER BY g.place),
    freed AS (
        DELETE FROM pawl_internal.job_unique u USING gone g WHERE u.key = g.unique_key AND u.job = g.id),
    cleared AS (
        DELETE FROM pawl_internal.job_step s USING gone g WHERE s.job = g.id),
    counted AS (
        INSERT INTO pawl_internal.job_tally (queue, running, done) SELECT g.queue, -count(*), count(*) FROM gone g GROUP BY g.queue)
    SELECT coalesce(array_agg(g.place::integer), '{}'), coalesce(array_agg(g.id), '{}'), coalesce(array_agg(g.token), '{}'),
           coalesce(array_agg(g.key) FILTER (WHERE g.key IS NOT NULL), '{}'),
           coalesce((SELECT string_agg(h.hash || int8send(h.expires), '' ORDER BY h.row) FROM hashed h), ''),
           array_agg(g.whole ORDER BY g.place) FILTER (WHERE g.flags & :JOB_RUN <> 0)
      INTO places, ids, tokens, keys, entries, v_runs
      FROM gone g;
    IF v_runs IS NOT NULL THEN
        FOREACH v_job IN ARRAY v_runs LOOP
            PERFORM pawl_internal.run_job_ended(v_job, :RUN_JOB_COMPLETED::smallint, NULL, p_now);
        END LOOP;
    END IF;
    IF cardinality(p_gone) > 0 THEN
        places := places || ARRAY(
            SELECT DISTINCT ON (u.id, u.token) u.place::integer
              FROM unnest(p_ids, p_tokens) WITH ORDINALITY AS u(id, token, place)
              JOIN unnest(p_gone, p_gone_tokens) AS g(id, token) ON g.id = u.id AND g.token = u.token
             ORDER BY u.id, u.token, u.place);
    END IF;
END
$$;

-- name: jobs_finish
-- Reports many jobs and claims the next ones, in one call.
-- params: those of jobs_report, then p_queue, p_max (0: claim nothing), p_lease_ms, p_request of jobs_claim
-- returns: a first row with the answers and results, one row per granted job after it
-- tables: those of both
-- locks: those of both
CREATE OR REPLACE FUNCTION pawl_internal.jobs_finish(
    p_instance uuid, p_tokens bigint[], p_ids bigint[], p_outcomes smallint[], p_classes smallint[], p_delays bigint[],
    p_durations bigint[], p_outputs json[], p_errors text[], p_steps json[], p_ins text[], p_outs text[], p_wait_keys text[],
    p_wait_steps text[], p_queue text, p_max integer, p_lease_ms bigint, p_request uuid)
    RETURNS TABLE (answers smallint[], results smallint[], id bigint, token bigint, lease_until_ms bigint, type text, queue text,
                   payload json, task text, key text, unique_key text, traceparent text, schedule text, progress json,
                   priority integer, attempts integer, max_attempts integer, flags integer, put_ms bigint, due_ms bigint,
                   deadline_ms bigint, timeout_ms bigint, instant_ms bigint, cancel_ms bigint, agent text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
#variable_conflict use_column
BEGIN
    SELECT r.answers, r.results INTO jobs_finish.answers, jobs_finish.results
      FROM pawl_internal.jobs_report(p_instance, p_tokens, p_ids, p_outcomes, p_classes, p_delays, p_durations, p_outputs, p_errors,
                            p_steps, p_ins, p_outs, p_wait_keys, p_wait_steps) r;
    RETURN NEXT;
    IF p_max > 0 THEN
        RETURN QUERY SELECT NULL::smallint[], NULL::smallint[], c.*
                       FROM pawl_internal.jobs_claim(p_instance, p_queue, p_max, p_lease_ms, p_request) c;
    END IF;
END
$$;

-- name: jobs_maintain
-- Takes back what dead or late workers hold, removes what has outlived its use, folds the tally.
-- params: p_rows_max integer: bound of each deletion
-- returns: how many of each
-- tables: those of jobs_sweep, task_run, job_claim, schedule_fire, job_signal, refusal, spine, job_tally
-- locks: those of jobs_sweep, then the rows that go (skip locked)
CREATE OR REPLACE FUNCTION pawl_internal.jobs_maintain(
    p_rows_max integer, OUT runs_removed bigint, OUT claims_removed bigint, OUT fires_removed bigint, OUT signals_removed bigint,
    OUT refusals_removed bigint, OUT spine_removed bigint, OUT tally_folded bigint, OUT leases_expired bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET jit = off AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
BEGIN
    PERFORM pawl_internal.refuse_range('rows_max', p_rows_max, 0, 1000000);
    leases_expired := pawl_internal.jobs_sweep(NULL, v_now);
    DELETE FROM pawl_internal.task_run r WHERE r.ctid = ANY (ARRAY(
        SELECT o.ctid FROM pawl_internal.task_run o WHERE o.expires_ms < v_now LIMIT p_rows_max FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS runs_removed = ROW_COUNT;
    DELETE FROM pawl_internal.job_claim c WHERE c.ctid = ANY (ARRAY(
        SELECT o.ctid FROM pawl_internal.job_claim o WHERE o.state = :CLAIM_DONE AND o.lease_until_ms < v_now - 3600000
         LIMIT p_rows_max FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS claims_removed = ROW_COUNT;
    DELETE FROM pawl_internal.schedule_fire f WHERE f.ctid = ANY (ARRAY(
        SELECT o.ctid FROM pawl_internal.schedule_fire o JOIN pawl_internal.schedule s ON s.name = o.schedule
         WHERE o.fired_ms < v_now - 604800000 AND o.instant_ms <= s.last_ms LIMIT p_rows_max FOR UPDATE OF o SKIP LOCKED));
    GET DIAGNOSTICS fires_removed = ROW_COUNT;
    DELETE FROM pawl_internal.job_signal g WHERE g.ctid = ANY (ARRAY(
        SELECT o.ctid FROM pawl_internal.job_signal o WHERE o.expires_ms <= v_now LIMIT p_rows_max FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS signals_removed = ROW_COUNT;
    DELETE FROM pawl_internal.refusal r WHERE r.ctid = ANY (ARRAY(
        SELECT o.ctid FROM pawl_internal.refusal o WHERE o.made_ms < v_now - 2592000000 LIMIT p_rows_max FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS refusals_removed = ROW_COUNT;
    DELETE FROM pawl_internal.spine s WHERE s.id = ANY (ARRAY(
        SELECT o.id FROM (SELECT e.id, e.made_ms FROM pawl_internal.spine e ORDER BY e.id LIMIT p_rows_max) o
         WHERE o.made_ms < v_now - 604800000));
    GET DIAGNOSTICS spine_removed = ROW_COUNT;
    WITH gone AS (
        DELETE FROM pawl_internal.job_tally t
         WHERE t.ctid = ANY (ARRAY(SELECT o.ctid FROM pawl_internal.job_tally o LIMIT p_rows_max FOR UPDATE SKIP LOCKED)) RETURNING t.*),
    sums AS (
        INSERT INTO pawl_internal.job_tally (queue, {{job_tally}})
        SELECT g.queue, {{each job_tally: sum(g.@)}}
          FROM gone g GROUP BY g.queue)
    SELECT count(*) INTO tally_folded FROM gone;
END
$$;

-- name: jobs_report
-- Ends the executions of jobs that the caller holds.
-- params: p_instance, and one array member per item: p_tokens, p_ids, p_outcomes (1 complete, 2 fail, 3 snooze, 4 release,
--   5 wait; no members: all complete), p_classes (2 permanent, 3 refused), p_delays (-1: backoff, or no end), p_durations,
--   p_outputs, p_errors, p_steps, p_ins, p_outs, p_wait_keys, p_wait_steps
-- returns: answers (1 applied, 2 duplicate, 3 stale) and results (1 retry, 2 dead, 3 cancelled)
-- tables: job_claim (updated), job (deleted), job_aside, job_key, those of job_record and audit_seal, job_tally
-- locks: the claims by token, their jobs, unique and wait keys, job_fair and the keys, the head of the caller's audit chain
CREATE OR REPLACE FUNCTION pawl_internal.jobs_report(
    p_instance uuid, p_tokens bigint[], p_ids bigint[], p_outcomes smallint[], p_classes smallint[], p_delays bigint[],
    p_durations bigint[], p_outputs json[], p_errors text[], p_steps json[], p_ins text[], p_outs text[], p_wait_keys text[],
    p_wait_steps text[], OUT answers smallint[], OUT results smallint[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_count integer := coalesce(cardinality(p_ids), 0);
    v_claims pawl_internal.job_claim[];
    v_claim pawl_internal.job_claim;
    v_gone bigint[];
    v_tokens bigint[];
BEGIN
    {{items p_ids, p_tokens, p_outcomes?, p_classes?, p_delays?, p_durations?, p_outputs?, p_errors?, p_steps?, p_ins?, p_outs?,
            p_wait_keys?, p_wait_steps?}}
    IF v_count = 0 THEN
        answers := '{}';
        results := '{}';
        RETURN;
    END IF;
    SELECT array_agg(l) INTO v_claims
      FROM (SELECT c FROM pawl_internal.job_claim c WHERE c.token = ANY (p_tokens) AND c.instance = p_instance AND c.state = :CLAIM_ACTIVE
             ORDER BY c.token FOR UPDATE) AS l(l);
    IF coalesce(cardinality(p_outcomes), 0) = 0 AND v_claims IS NOT NULL THEN
        -- Most calls complete plain jobs.
        WITH gone AS (
            DELETE FROM pawl_internal.job j USING unnest(p_ids, p_tokens) AS u(id, token)
             WHERE j.id = u.id AND j.token = u.token AND NOT j.special
               AND u.token = ANY (ARRAY(SELECT h.token FROM unnest(v_claims) h))
            RETURNING j.id, j.token, j.queue),
        counted AS (
            INSERT INTO pawl_internal.job_tally (queue, running, done) SELECT g.queue, -count(*), count(*) FROM gone g GROUP BY g.queue)
        SELECT array_agg(g.id), array_agg(g.token) INTO v_gone, v_tokens FROM gone g;
        IF cardinality(v_gone) = v_count THEN
            FOREACH v_claim IN ARRAY v_claims LOOP
                PERFORM pawl_internal.job_claim_leave(v_claim,
                    CASE WHEN cardinality(v_claims) = 1 THEN v_gone
                         ELSE ARRAY(SELECT u.id FROM unnest(v_gone, v_tokens) AS u(id, token) WHERE u.token = v_claim.token) END,
                    true);
            END LOOP;
            answers := array_fill(:ANSWER_APPLIED::smallint, ARRAY[v_count]);
            results := array_fill(0::smallint, ARRAY[v_count]);
            RETURN;
        END IF;
    END IF;
    SELECT r.answers, r.results INTO answers, results
      FROM pawl_internal.jobs_report_some(p_instance, p_tokens, p_ids, p_outcomes, p_classes, p_delays, p_durations, p_outputs, p_errors,
                                 p_steps, p_ins, p_outs, p_wait_keys, p_wait_steps, coalesce(v_gone, '{}'),
                                 coalesce(v_tokens, '{}'), pawl_internal.now_ms()) r;
END
$$;

-- name: jobs_report_some
-- The careful half of jobs_report: completions together, then every other outcome, one job after the other.
-- params: those of jobs_report; p_gone, p_gone_tokens bigint[]: what the caller has completed already; p_now bigint
-- returns: as jobs_report
-- tables: those of jobs_report
-- locks: those of jobs_report
CREATE OR REPLACE FUNCTION pawl_internal.jobs_report_some(
    p_instance uuid, p_tokens bigint[], p_ids bigint[], p_outcomes smallint[], p_classes smallint[], p_delays bigint[],
    p_durations bigint[], p_outputs json[], p_errors text[], p_steps json[], p_ins text[], p_outs text[], p_wait_keys text[],
    p_wait_steps text[], p_gone bigint[], p_gone_tokens bigint[], p_now bigint, OUT answers smallint[], OUT results smallint[])
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_job pawl_internal.job;
    v_queue text;
    v_states smallint[] := '{}';
    v_outcomes smallint[] := '{}';
    v_keys text[];
    v_ended bigint[];
    v_ended_tokens bigint[];
    v_entries bytea;
    v_block bigint := nextval('pawl_internal.run_seq');
    v_claim pawl_internal.job_claim;
    v_places integer[];
    v_end record;
    i integer;
BEGIN
    answers := array_fill(NULL::smallint, ARRAY[cardinality(p_ids)]);
    results := array_fill(0::smallint, ARRAY[cardinality(p_ids)]);
    PERFORM pawl_internal.run_jobs_lock(ARRAY(
        SELECT j.unique_key
          FROM unnest(p_ids, p_tokens, p_outcomes, p_classes) AS u(id, token, outcome, class)
          JOIN pawl_internal.job j ON j.id = u.id AND j.token = u.token AND j.token > 0
         WHERE j.flags & :JOB_RUN <> 0
           AND EXISTS (SELECT 1 FROM pawl_internal.job_claim c WHERE c.token = j.token AND c.instance = p_instance AND c.state = :CLAIM_ACTIVE)
           AND (coalesce(u.outcome, 1) = 1 OR j.cancel_ms IS NOT NULL
               OR u.outcome = :JOB_FAIL AND (u.class >= 2 OR j.attempts >= j.max_attempts))
         ORDER BY j.id FOR UPDATE OF j));
    SELECT c.places, p_gone || c.ids, p_gone_tokens || c.tokens, c.keys, c.entries
      INTO v_places, v_ended, v_ended_tokens, v_keys, v_entries
      FROM pawl_internal.jobs_complete(p_instance, p_tokens, p_ids, p_outcomes, p_durations, p_outputs, p_steps, p_ins, p_outs, p_gone,
                              p_gone_tokens, v_block, p_now) c;
    FOREACH i IN ARRAY v_places LOOP
        answers[i] := 1;
    END LOOP;
    FOR i IN 1 .. cardinality(p_ids) LOOP
        CONTINUE WHEN answers[i] IS NOT NULL;
        answers[i] := 3;
        SELECT j.* INTO v_job FROM pawl_internal.job j
         WHERE j.id = p_ids[i] AND j.token = p_tokens[i] AND j.token > 0
           AND EXISTS (SELECT 1 FROM pawl_internal.job_claim c WHERE c.token = j.token AND c.instance = p_instance AND c.state = :CLAIM_ACTIVE)
           FOR UPDATE;
        IF NOT FOUND THEN
            IF EXISTS (SELECT 1 FROM unnest(v_ended, v_ended_tokens) AS e(id, token) WHERE e.id = p_ids[i] AND e.token = p_tokens[i])
               OR EXISTS (SELECT 1 FROM pawl_internal.job_claim c WHERE c.token = p_tokens[i] AND c.instance = p_instance
                             AND (c.done_ids IS NULL OR p_ids[i] = ANY (c.done_ids))) THEN
                answers[i] := 2;
            ELSE
                INSERT INTO pawl_internal.job_tally (queue, stale)
                VALUES (coalesce((SELECT c.queue FROM pawl_internal.job_claim c WHERE c.token = p_tokens[i]), 'default'), 1);
            END IF;
            CONTINUE;
        END IF;
        IF v_queue IS DISTINCT FROM v_job.queue THEN
            PERFORM pawl_internal.job_tally_add(v_queue, v_states, v_outcomes, 0);
            v_states := '{}';
            v_outcomes := '{}';
            v_queue := v_job.queue;
        END IF;
        answers[i] := 1;
        v_ended := v_ended || p_ids[i];
        v_ended_tokens := v_ended_tokens || p_tokens[i];
        IF v_job.key IS NOT NULL THEN
            v_keys := v_keys || v_job.key;
        END IF;
        SELECT e.result, e.state, e.outcome, e.entry INTO v_end
          FROM pawl_internal.job_end(v_job, p_instance, p_outcomes[i], p_classes[i], p_delays[i], p_durations[i],
                            p_errors[i], p_steps[i], p_ins[i], p_outs[i], p_wait_keys[i], p_wait_steps[i], v_block,
                            octet_length(v_entries) / 40, p_now) e;
        results[i] := v_end.result;
        v_states := v_states || v_end.state;
        v_outcomes := v_outcomes || v_end.outcome;
        v_entries := v_entries || coalesce(v_end.entry, '');
    END LOOP;
    PERFORM pawl_internal.job_tally_add(v_queue, v_states, v_outcomes, 0);
    FOR v_claim IN SELECT * FROM pawl_internal.job_claim c WHERE c.token = ANY (v_ended_tokens) ORDER BY c.token LOOP
        PERFORM pawl_internal.job_claim_leave(v_claim, ARRAY(SELECT u.id FROM unnest(v_ended, v_ended_tokens) AS u(id, token)
                                                     WHERE u.token = v_claim.token), true);
    END LOOP;
    PERFORM pawl_internal.job_keys_free(v_keys);
    PERFORM pawl_internal.audit_seal(v_block, p_instance, v_entries, p_now);
END
$$;

-- name: jobs_sweep
-- Takes back what dead or late workers hold; at most once a second for the whole schema.
-- params: p_caller uuid, p_now bigint
-- returns: how many jobs were taken back
-- tables: job_sweep (updated), those of job_claim_lose
-- locks: the row of job_sweep and the claims (both skip locked), then those of job_claims_lock and job_claim_lose
CREATE OR REPLACE FUNCTION pawl_internal.jobs_sweep(p_caller uuid, p_now bigint) RETURNS integer
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_claim pawl_internal.job_claim;
    v_claims pawl_internal.job_claim[];
    v_all boolean;
    v_lost integer := 0;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pawl_internal.job_claim c WHERE c.state = :CLAIM_ACTIVE) THEN
        RETURN 0;
    END IF;
    PERFORM 1 FROM pawl_internal.job_sweep s WHERE NOT p_now - s.swept_ms BETWEEN 0 AND 999 FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    UPDATE pawl_internal.job_sweep s SET swept_ms = p_now;
    v_claims := ARRAY(
        SELECT c FROM pawl_internal.job_claim c LEFT JOIN pawl_internal.instance i ON i.id = c.instance
         WHERE c.state = :CLAIM_ACTIVE
           AND (c.check_ms <= p_now OR i.id IS NULL OR i.state = :INSTANCE_EVICTED OR i.lease_until_ms <= p_now)
         ORDER BY c.token LIMIT 100 FOR UPDATE OF c SKIP LOCKED);
    PERFORM pawl_internal.job_claims_lock(v_claims);
    FOREACH v_claim IN ARRAY v_claims LOOP
        SELECT NOT EXISTS (SELECT 1 FROM pawl_internal.instance i
                            WHERE i.id = v_claim.instance AND i.state = :INSTANCE_ACTIVE AND i.lease_until_ms > p_now) INTO v_all;
        v_lost := v_lost + pawl_internal.job_claim_lose(v_claim, v_all, false, p_caller, p_now);
    END LOOP;
    RETURN v_lost;
END
$$;
