-- run: runs: starting and changing them, and their targets.

-- name: run_cancel
-- A run ends as it is: partitions that are active are cancelled, its jobs go or are asked to stop.
-- params: p_run bigint
-- returns: 1 applied, 2 duplicate (it was cancelled), 4 conflict (it has ended), 6 not found
-- tables: run, run_partition (updated), those of run_end and run_jobs_drop
-- locks: the partitions, then the run and its parents; jobs only skip locked
CREATE OR REPLACE FUNCTION pawl_internal.run_cancel(p_run bigint) RETURNS smallint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_run pawl_internal.run;
    v_jobs bigint[];
BEGIN
    PERFORM 1 FROM pawl_internal.run_partition p WHERE p.run = p_run ORDER BY p.part FOR UPDATE;
    SELECT * INTO v_run FROM pawl_internal.run r WHERE r.id = p_run FOR UPDATE;
    IF NOT FOUND THEN
        RETURN :ANSWER_NOT_FOUND;
    ELSIF v_run.state = :RUN_IS_CANCELLED THEN
        RETURN :ANSWER_DUPLICATE;
    ELSIF v_run.state >= :RUN_IS_COMPLETED THEN
        RETURN :ANSWER_CONFLICT;
    END IF;
    v_jobs := ARRAY(SELECT p.job FROM pawl_internal.run_partition p WHERE p.run = p_run AND p.state = :PART_ACTIVE AND p.job > 0) || v_run.job;
    UPDATE pawl_internal.run_partition p SET state = :PART_CANCELLED, job = 0, ended_ms = v_now, updated_ms = v_now WHERE p.run = p_run AND p.state = :PART_ACTIVE;
    UPDATE pawl_internal.run r SET remaining = 0, job = 0 WHERE r.id = p_run;
    PERFORM pawl_internal.run_end(p_run, :RUN_IS_CANCELLED::smallint, NULL, v_now);
    PERFORM pawl_internal.run_jobs_drop(v_jobs, true, v_now);
    RETURN :ANSWER_APPLIED;
END
$$;

-- name: run_jobs_drop
-- Jobs that a run does not need any more; those that another transaction holds are left alone.
-- params: p_ids bigint[]; p_all boolean: running ones are asked to stop and dead ones discarded as well; p_now bigint
-- returns: the ids that are gone
-- tables: job, job_aside (deleted or updated), job_unique, job_step (deleted), those of job_record and audit_seal, job_tally
-- locks: the jobs (skip locked: the caller holds partitions, which come after jobs), the head of the nil audit chain
CREATE OR REPLACE FUNCTION pawl_internal.run_jobs_drop(p_ids bigint[], p_all boolean, p_now bigint) RETURNS bigint[]
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_job pawl_internal.job;
    v_ready bigint[];
    v_gone bigint[] := '{}';
    v_entries bytea := '';
    v_block bigint := nextval('pawl_internal.run_seq');
BEGIN
    IF coalesce(cardinality(p_ids), 0) = 0 THEN
        RETURN v_gone;
    END IF;
    v_ready := ARRAY(SELECT o.id FROM pawl_internal.job o WHERE o.id = ANY (p_ids) AND o.token = 0 ORDER BY o.id FOR UPDATE SKIP LOCKED);
    FOR v_job IN
        WITH ready AS (DELETE FROM pawl_internal.job j WHERE j.id = ANY (v_ready) RETURNING j.*),
        aside AS (
            DELETE FROM pawl_internal.job_aside a WHERE a.id = ANY (ARRAY(
                SELECT o.id FROM pawl_internal.job_aside o WHERE o.id = ANY (p_ids) AND (o.state <> :JOB_DEAD OR p_all) ORDER BY o.id
                   FOR UPDATE SKIP LOCKED)) RETURNING a.*)
        SELECT * FROM ready UNION ALL SELECT * FROM aside ORDER BY id LOOP
        v_gone := v_gone || v_job.id;
        IF v_job.id = ANY (v_ready) THEN
            v_job.state := :JOB_READY; -- a promoted job still has the state it had in job_aside
        END IF;
        DELETE FROM pawl_internal.job_unique u WHERE u.key = v_job.unique_key AND u.job = v_job.id;
        DELETE FROM pawl_internal.job_step s WHERE s.job = v_job.id;
        INSERT INTO pawl_internal.job_tally (queue, {{job_gauge}}, cancelled, discarded)
        VALUES (v_job.queue, {{each job_gauge: -(v_job.state = :JOB_@)::integer}},
                (v_job.state <> :JOB_DEAD)::integer, (v_job.state = :JOB_DEAD)::integer);
        IF v_job.state <> :JOB_DEAD THEN
            v_entries := v_entries || coalesce(pawl_internal.job_record(v_job, :RUN_CANCELLED::smallint, NULL, p_now, 0, NULL, NULL, NULL, NULL, NULL, v_block,
                                                             octet_length(v_entries) / 40), '');
        END IF;
    END LOOP;
    IF p_all THEN
        UPDATE pawl_internal.job j SET cancel_ms = coalesce(j.cancel_ms, p_now), special = true WHERE j.id = ANY (ARRAY(
            SELECT o.id FROM pawl_internal.job o WHERE o.id = ANY (p_ids) AND o.token > 0 ORDER BY o.id FOR UPDATE SKIP LOCKED));
    END IF;
    PERFORM pawl_internal.audit_seal(v_block, NULL, v_entries, p_now);
    RETURN v_gone;
END
$$;

-- name: run_jobs_lock
-- The locks that the ends of several jobs of runs need, taken in the same order everywhere.
-- params: p_keys text[]: the unique keys of the jobs, which the caller has locked
-- returns: nothing; a job that ends alone takes its locks in this order anyway
-- tables: run_partition, run (read)
-- locks: the partitions by (run, part), then the runs and all their parents, the youngest first
CREATE OR REPLACE FUNCTION pawl_internal.run_jobs_lock(p_keys text[]) RETURNS void
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_runs bigint[];
BEGIN
    IF coalesce(cardinality(p_keys), 0) < 2 THEN
        RETURN;
    END IF;
    PERFORM 1
       FROM (SELECT DISTINCT split_part(k.key, ':', 2)::bigint AS run,
                    CASE WHEN split_part(k.key, ':', 3) <> 'consolidate' THEN split_part(k.key, ':', 3)::integer END AS part
               FROM unnest(p_keys) AS k(key)) k
       JOIN pawl_internal.run_partition p ON p.run = k.run AND p.part = k.part
      ORDER BY p.run, p.part FOR UPDATE OF p;
    WITH RECURSIVE family AS (
        SELECT r.id, r.parent FROM pawl_internal.run r WHERE r.id IN (SELECT split_part(k.key, ':', 2)::bigint FROM unnest(p_keys) AS k(key))
        UNION
        SELECT r.id, r.parent FROM family f JOIN pawl_internal.run r ON r.id = f.parent)
    SELECT array_agg(f.id) INTO v_runs FROM family f;
    -- A child is younger than its parent.
    PERFORM 1 FROM pawl_internal.run r WHERE r.id = ANY (v_runs) ORDER BY r.id DESC FOR UPDATE;
END
$$;

-- name: run_open
-- Reopens a run that had failed or was in repair.
-- params: p_run pawl_internal.run (locked), p_state smallint: its state from now on
-- tables: run (updated), job_limit (inserted)
-- locks: the run, then its parents
CREATE OR REPLACE FUNCTION pawl_internal.run_open(p_run pawl_internal.run, p_state smallint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_parent pawl_internal.run;
BEGIN
    UPDATE pawl_internal.run r SET state = p_state, error = NULL, ended_ms = 0 WHERE r.id = p_run.id;
    IF p_run.state <> :RUN_IS_FAILED THEN
        RETURN;
    END IF;
    IF p_run.paced THEN
        PERFORM pawl_internal.job_limit_set('run:' || p_run.id, p_run.concurrency, p_run.rate, p_run.rate_ms, 1);
    END IF;
    IF p_run.parent IS NOT NULL THEN
        UPDATE pawl_internal.run r SET children_open = r.children_open + 1, children_failed = r.children_failed - 1
         WHERE r.id = p_run.parent RETURNING r.* INTO v_parent;
        IF v_parent.state = :RUN_IS_FAILED AND v_parent.consolidated THEN
            PERFORM pawl_internal.run_open(v_parent, :RUN_IS_NESTED::smallint);
        END IF;
    END IF;
END
$$;

-- name: run_pace
-- Changes how fast the whole fleet works on a run.
-- params: p_run bigint; p_concurrency integer, p_rate integer (-1: leave it), p_rate_ms bigint; p_hold_ms bigint: no page starts before
-- returns: 1 applied, 4 conflict (its pages have no key, or it has ended), 6 not found
-- tables: run, job_limit, job_key (updated)
-- locks: the run, job_fair, the key
CREATE OR REPLACE FUNCTION pawl_internal.run_pace(p_run bigint, p_concurrency integer, p_rate integer, p_rate_ms bigint, p_hold_ms bigint)
    RETURNS smallint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_run pawl_internal.run;
BEGIN
    SELECT * INTO v_run FROM pawl_internal.run r WHERE r.id = p_run FOR UPDATE;
    IF NOT FOUND THEN
        RETURN :ANSWER_NOT_FOUND;
    ELSIF NOT v_run.paced OR v_run.state >= :RUN_IS_COMPLETED THEN
        RETURN :ANSWER_CONFLICT;
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
    UPDATE pawl_internal.run r SET concurrency = v_run.concurrency, rate = v_run.rate, rate_ms = v_run.rate_ms WHERE r.id = p_run;
    PERFORM pawl_internal.job_limit_set('run:' || p_run, v_run.concurrency, v_run.rate, v_run.rate_ms, 1);
    IF p_hold_ms > 0 THEN
        PERFORM 1 FROM pawl_internal.job_fair FOR UPDATE;
        INSERT INTO pawl_internal.job_key AS k (key, running, vtime, tat_us)
        VALUES ('run:' || p_run, 0, 0,
                (v_now + p_hold_ms) * 1000 + (v_run.rate - 1) * greatest(1, v_run.rate_ms * 1000 / v_run.rate))
        ON CONFLICT (key) DO UPDATE SET tat_us = greatest(k.tat_us, excluded.tat_us);
    END IF;
    RETURN :ANSWER_APPLIED;
END
$$;

-- name: run_pause
-- Pauses or resumes a run.
-- params: p_run bigint, p_paused boolean
-- returns: 1 applied, 2 duplicate (it was so), 4 conflict (it has ended), 6 not found
-- tables: run, run_partition (updated), those of run_jobs_drop and run_pages_put
-- locks: the partitions, then the run; jobs only skip locked
CREATE OR REPLACE FUNCTION pawl_internal.run_pause(p_run bigint, p_paused boolean) RETURNS smallint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_run pawl_internal.run;
    v_gone bigint[];
BEGIN
    PERFORM 1 FROM pawl_internal.run_partition p WHERE p.run = p_run ORDER BY p.part FOR UPDATE;
    SELECT * INTO v_run FROM pawl_internal.run r WHERE r.id = p_run FOR UPDATE;
    IF NOT FOUND THEN
        RETURN :ANSWER_NOT_FOUND;
    ELSIF v_run.state >= :RUN_IS_COMPLETED THEN
        RETURN :ANSWER_CONFLICT;
    ELSIF v_run.paused = p_paused THEN
        RETURN :ANSWER_DUPLICATE;
    END IF;
    UPDATE pawl_internal.run r SET paused = p_paused WHERE r.id = p_run;
    IF p_paused THEN
        v_gone := pawl_internal.run_jobs_drop(ARRAY(SELECT p.job FROM pawl_internal.run_partition p WHERE p.run = p_run AND p.state = :PART_ACTIVE AND p.job > 0), false,
                                     v_now);
        UPDATE pawl_internal.run_partition p SET paused = true, job = CASE WHEN p.job = ANY (v_gone) THEN 0 ELSE p.job END
         WHERE p.run = p_run AND p.state = :PART_ACTIVE;
    ELSE
        UPDATE pawl_internal.run_partition p SET paused = false, updated_ms = CASE WHEN p.job = 0 THEN v_now ELSE p.updated_ms END
         WHERE p.run = p_run AND p.state = :PART_ACTIVE;
        PERFORM pawl_internal.run_pages_put(v_run, NULL, v_now);
    END IF;
    RETURN :ANSWER_APPLIED;
END
$$;

-- name: run_reset
-- A partition starts over from a given place, in a new generation.
-- params: p_run bigint, p_part integer, p_offset bigint, p_cursor text (NULL: none)
-- returns: 1 applied, 4 conflict (the run is consolidating, nested, completed or cancelled), 6 not found
-- tables: run_partition (updated), those of run_partition_open, run_jobs_drop, run_pages_put
-- locks: the partition, then the run and its parents; jobs only skip locked
CREATE OR REPLACE FUNCTION pawl_internal.run_reset(p_run bigint, p_part integer, p_offset bigint, p_cursor text) RETURNS smallint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_run pawl_internal.run;
    v_part pawl_internal.run_partition;
BEGIN
    SELECT * INTO v_part FROM pawl_internal.run_partition p WHERE p.run = p_run AND p.part = p_part FOR UPDATE;
    IF NOT FOUND THEN
        RETURN :ANSWER_NOT_FOUND;
    END IF;
    SELECT * INTO v_run FROM pawl_internal.run r WHERE r.id = p_run FOR UPDATE;
    IF v_run.state NOT IN (:RUN_IS_RUNNING, :RUN_IS_IN_REPAIR, :RUN_IS_FAILED) THEN
        RETURN :ANSWER_CONFLICT;
    END IF;
    PERFORM pawl_internal.run_partition_open(v_run, v_part, v_now);
    UPDATE pawl_internal.run_partition p
       SET generation = p.generation + 1, page = 0, next_offset = p_offset, cursor = p_cursor, job = 0, items = 0, repeats = 0, pages = 0,
           skipped = 0, fetch_ms = 0, fetch_ms_max = 0, fetch_ms_last = 0, slow = 0, updated_ms = v_now
     WHERE p.run = p_run AND p.part = p_part;
    PERFORM pawl_internal.run_jobs_drop(ARRAY[v_part.job], true, v_now);
    PERFORM pawl_internal.run_pages_put(v_run, ARRAY[p_part], v_now);
    RETURN :ANSWER_APPLIED;
END
$$;

-- name: run_retry
-- Partitions that failed, or one that is named, go on in a new generation; or the consolidation is tried again.
-- params: p_run bigint; p_part integer (-1: every failed partition, or the consolidation when that is what failed)
-- returns: answer 1 applied, 4 conflict (nothing to retry, or the run is past it), 6 not found; how many
-- tables: run_partition (updated), those of run_partition_open, run_jobs_drop, run_pages_put, run_consolidate
-- locks: the partitions, then the run and its parents; jobs only skip locked
CREATE OR REPLACE FUNCTION pawl_internal.run_retry(p_run bigint, p_part integer, OUT answer smallint, OUT count integer)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
#variable_conflict use_column
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_run pawl_internal.run;
    v_part pawl_internal.run_partition;
    v_parts integer[] := '{}';
    v_jobs bigint[] := '{}';
BEGIN
    count := 0;
    PERFORM 1 FROM pawl_internal.run_partition p WHERE p.run = p_run AND (p_part < 0 OR p.part = p_part) ORDER BY p.part FOR UPDATE;
    IF NOT FOUND AND p_part >= 0 THEN
        answer := :ANSWER_NOT_FOUND;
        RETURN;
    END IF;
    SELECT * INTO v_run FROM pawl_internal.run r WHERE r.id = p_run FOR UPDATE;
    IF NOT FOUND THEN
        answer := :ANSWER_NOT_FOUND;
        RETURN;
    END IF;
    answer := :ANSWER_CONFLICT;
    IF v_run.state NOT IN (:RUN_IS_RUNNING, :RUN_IS_IN_REPAIR, :RUN_IS_FAILED) THEN
        RETURN;
    END IF;
    FOR v_part IN SELECT * FROM pawl_internal.run_partition p
                   WHERE p.run = p_run AND (p_part < 0 AND p.state = :PART_FAILED OR p.part = p_part AND p.state IN (:PART_ACTIVE, :PART_FAILED)) ORDER BY p.part LOOP
        PERFORM pawl_internal.run_partition_open(v_run, v_part, v_now);
        SELECT * INTO v_run FROM pawl_internal.run r WHERE r.id = p_run;
        v_parts := v_parts || v_part.part;
        v_jobs := v_jobs || v_part.job;
    END LOOP;
    IF cardinality(v_parts) > 0 THEN
        UPDATE pawl_internal.run_partition p SET generation = p.generation + 1, job = 0, updated_ms = v_now
         WHERE p.run = p_run AND p.part = ANY (v_parts);
        PERFORM pawl_internal.run_jobs_drop(v_jobs, true, v_now);
        PERFORM pawl_internal.run_pages_put(v_run, v_parts, v_now);
        answer := :ANSWER_APPLIED;
        count := cardinality(v_parts);
    ELSIF p_part < 0 AND v_run.state = :RUN_IS_FAILED AND NOT v_run.consolidated THEN
        PERFORM pawl_internal.run_jobs_drop(ARRAY[v_run.job], true, v_now);
        PERFORM pawl_internal.run_open(v_run, :RUN_IS_CONSOLIDATING::smallint);
        PERFORM pawl_internal.run_consolidate(p_run, v_now);
        answer := :ANSWER_APPLIED;
        count := 1;
    END IF;
END
$$;

-- name: run_sums
-- Sums over the executions that finished since a moment.
-- params: p_since bigint, p_instance uuid (NULL: of any)
-- returns: how many, how many succeeded, what they took together in ms, how many instances ended them
-- tables: task_run (read)
CREATE OR REPLACE FUNCTION pawl_internal.run_sums(
    p_since bigint, p_instance uuid, OUT runs bigint, OUT succeeded bigint, OUT duration_ms bigint, OUT workers bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET jit = off AS $$
BEGIN
    SELECT count(*), count(*) FILTER (WHERE r.outcome = :RUN_SUCCEEDED), coalesce(sum(r.finished_ms - r.started_ms), 0), count(DISTINCT r.instance)
      INTO runs, succeeded, duration_ms, workers
      FROM pawl_internal.task_run r WHERE r.finished_ms >= p_since AND (p_instance IS NULL OR r.instance = p_instance);
END
$$;

-- name: run_target_put
-- Names a statement that stores the items of pages in a table of the user's.
-- params: p_name text, p_sql text: one parameter, a JSON array of {"run", "partition", "key", "payload"}
-- tables: run_target
-- locks: its row
CREATE OR REPLACE FUNCTION pawl_internal.run_target_put(p_name text, p_sql text) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    {{needs p_name, p_sql}}
    INSERT INTO pawl_internal.run_target (name, sql, updated_ms) VALUES (p_name, p_sql, pawl_internal.now_ms())
    ON CONFLICT (name) DO UPDATE SET sql = excluded.sql, updated_ms = excluded.updated_ms;
END
$$;

-- name: run_target_remove
-- Forgets a target that no open run names.
-- params: p_name text
-- returns: 1 removed, 4 a run that has not ended names it, 6 there is none
-- tables: run (read), run_target (deleted)
-- locks: its row
CREATE OR REPLACE FUNCTION pawl_internal.run_target_remove(p_name text) RETURNS smallint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    PERFORM 1 FROM pawl_internal.run_target t WHERE t.name = p_name FOR UPDATE;
    IF NOT FOUND THEN
        RETURN :ANSWER_NOT_FOUND;
    ELSIF EXISTS (SELECT 1 FROM pawl_internal.run r WHERE r.target = p_name AND r.state < :RUN_IS_COMPLETED) THEN
        RETURN :ANSWER_CONFLICT;
    END IF;
    DELETE FROM pawl_internal.run_target t WHERE t.name = p_name;
    RETURN :ANSWER_APPLIED;
END
$$;

-- name: run_targets
-- The statements that runs may store their items with.
-- returns: name, sql, updated_ms, by name
-- tables: run_target (read)
CREATE OR REPLACE FUNCTION pawl_internal.run_targets() RETURNS TABLE (name text, sql text, updated_ms bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT t.name, t.sql, t.updated_ms FROM pawl_internal.run_target t ORDER BY t.name;
END
$$;

-- name: runs_maintain
-- Runs that ended more than 30 days ago go, their items first.
-- params: p_rows_max integer: bound of the items that go
-- returns: how many of each
-- tables: run, run_partition, run_item, job_key (deleted)
-- locks: the run (skip locked)
CREATE OR REPLACE FUNCTION pawl_internal.runs_maintain(p_rows_max integer, OUT runs_removed bigint, OUT items_removed bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET jit = off AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_run bigint;
    v_left bigint := p_rows_max;
    v_gone bigint;
BEGIN
    PERFORM pawl_internal.refuse_range('rows_max', p_rows_max, 0, 1000000);
    runs_removed := 0;
    items_removed := 0;
    FOR v_run IN SELECT r.id FROM pawl_internal.run r WHERE r.ended_ms > 0 AND r.ended_ms < v_now - 2592000000
                  ORDER BY r.id LIMIT p_rows_max FOR UPDATE SKIP LOCKED LOOP
        EXIT WHEN v_left <= 0;
        DELETE FROM pawl_internal.run_item i WHERE i.run = v_run AND i.key = ANY (ARRAY(
            SELECT o.key FROM pawl_internal.run_item o WHERE o.run = v_run ORDER BY o.key LIMIT v_left));
        GET DIAGNOSTICS v_gone = ROW_COUNT;
        items_removed := items_removed + v_gone;
        v_left := v_left - v_gone;
        CONTINUE WHEN v_left <= 0 AND EXISTS (SELECT 1 FROM pawl_internal.run_item i WHERE i.run = v_run);
        DELETE FROM pawl_internal.run_partition p WHERE p.run = v_run;
        DELETE FROM pawl_internal.run r WHERE r.id = v_run;
        DELETE FROM pawl_internal.job_key k WHERE k.key = 'run:' || v_run AND k.running = 0;
        runs_removed := runs_removed + 1;
    END LOOP;
END
$$;

-- name: view_partitions
-- Partitions and how far they are.
-- params: p_run bigint (0: of every run), p_name text (NULL: any), p_state integer (0: any), p_quiet_ms bigint: active, not paused and
--   not updated for so long (0: any), p_after_run bigint, p_after_part integer: the keyset cursor, p_limit integer
-- returns: the columns of struct partition_row and the time, by run and part; params, cursor and error only for callers that may see payloads
-- tables: run_partition (read)
CREATE OR REPLACE FUNCTION pawl_internal.view_partitions(
    p_run bigint, p_name text, p_state integer, p_quiet_ms bigint, p_after_run bigint, p_after_part integer, p_limit integer)
    RETURNS TABLE (run bigint, part integer, name text, params json, cursor text, error text, state smallint, paused boolean,
                   bounded boolean, low bigint, high bigint, total bigint, next_offset bigint, generation integer, page bigint, job bigint,
                   items bigint, repeats bigint, pages bigint, skipped bigint, fetch_ms bigint, fetch_ms_max bigint, fetch_ms_last bigint,
                   slow bigint, started_ms bigint, updated_ms bigint, ended_ms bigint, now_ms bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
#variable_conflict use_column
DECLARE
    v_shown boolean := pawl_internal.payloads_shown();
    v_now bigint := pawl_internal.now_ms();
BEGIN
    PERFORM pawl_internal.refuse_range('quiet_ms', p_quiet_ms, 0, 9007199254740991);
    PERFORM pawl_internal.refuse_range('limit', p_limit, 0, 1000000);
    RETURN QUERY
    SELECT p.run, p.part, p.name, CASE WHEN v_shown THEN p.params END, CASE WHEN v_shown THEN p.cursor END,
           CASE WHEN v_shown THEN p.error END, p.state, p.paused, p.bounded, p.low, p.high, p.total, p.next_offset,
           p.generation, p.page, p.job, p.items, p.repeats, p.pages, p.skipped, p.fetch_ms, p.fetch_ms_max, p.fetch_ms_last, p.slow,
           p.started_ms, p.updated_ms, p.ended_ms, v_now
      FROM pawl_internal.run_partition p
     WHERE (p_run = 0 OR p.run = p_run) AND (p_name IS NULL OR p.name = p_name) AND (p_state = 0 OR p.state = p_state)
       AND (p_quiet_ms = 0 OR p.state = :PART_ACTIVE AND NOT p.paused AND p.updated_ms <= v_now - p_quiet_ms)
       AND (p.run, p.part) > (p_after_run, p_after_part)
     ORDER BY p.run, p.part LIMIT p_limit;
END
$$;

-- name: view_runs
-- Runs with the sums of their partitions.
-- params: p_id bigint (0: any), p_key text, p_name text (NULL: any), p_state integer (0: any), p_open boolean: those that have not
--   ended, p_parent bigint (0: any), p_before bigint (0: from the newest), p_limit integer
-- returns: the columns of struct run_row and the time, newest first; params, spec and error only for callers that may see payloads
-- tables: run, run_partition (read)
CREATE OR REPLACE FUNCTION pawl_internal.view_runs(
    p_id bigint, p_key text, p_name text, p_state integer, p_open boolean, p_parent bigint, p_before bigint, p_limit integer)
    RETURNS TABLE (id bigint, key text, name text, type text, consolidate text, announce text, params json, spec json, target text,
                   queue text, traceparent text, wait_key text, error text, state smallint, paused boolean, paced boolean,
                   consolidated boolean, parent bigint, children_open integer, children_failed integer, page_size integer,
                   concurrency integer, rate integer, max_attempts integer, priority integer, flags integer, round integer,
                   rate_ms bigint, deadline_ms bigint, end_rule smallint, policy smallint, partitions integer, remaining integer,
                   done integer, failed integer, started_ms bigint, updated_ms bigint, ended_ms bigint, job bigint, total bigint,
                   items bigint, repeats bigint, pages bigint, skipped bigint, fetch_ms bigint, fetch_ms_max bigint, slow bigint,
                   now_ms bigint, agent text)
LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
#variable_conflict use_column
DECLARE
    v_shown boolean := pawl_internal.payloads_shown();
BEGIN
    PERFORM pawl_internal.refuse_range('limit', p_limit, 0, 1000000);
    RETURN QUERY
    SELECT r.id, r.key, r.name, r.type, r.consolidate, r.announce, CASE WHEN v_shown THEN r.params END, CASE WHEN v_shown THEN r.spec END,
           r.target, r.queue, r.traceparent, r.wait_key, CASE WHEN v_shown THEN r.error END,
           r.state, r.paused, r.paced, r.consolidated, coalesce(r.parent, 0), r.children_open, r.children_failed, r.page_size,
           r.concurrency, r.rate, r.max_attempts, r.priority, r.flags, r.round, r.rate_ms, r.deadline_ms, r.end_rule, r.policy,
           r.partitions, r.remaining, r.done, r.failed, r.started_ms, greatest(r.started_ms, r.ended_ms, s.updated), r.ended_ms, r.job,
           s.total, s.items, s.repeats, s.pages, s.skipped, s.fetch, s.fetch_max, s.slow, pawl_internal.now_ms(), r.agent
      FROM (SELECT * FROM pawl_internal.run o
             WHERE (p_id = 0 OR o.id = p_id) AND (p_key IS NULL OR o.key = p_key) AND (p_name IS NULL OR o.name = p_name)
               AND (p_state = 0 OR o.state = p_state) AND (NOT p_open OR o.state < :RUN_IS_COMPLETED) AND (p_parent = 0 OR o.parent = p_parent)
               AND (p_before = 0 OR o.id < p_before)
             ORDER BY o.id DESC LIMIT p_limit) r
     CROSS JOIN LATERAL (
        SELECT CASE WHEN coalesce(bool_or(p.total < 0), false) THEN -1 ELSE coalesce(sum(p.total), 0) END::bigint AS total,
               coalesce(sum(p.items), 0)::bigint AS items, coalesce(sum(p.repeats), 0)::bigint AS repeats,
               coalesce(sum(p.pages), 0)::bigint AS pages, coalesce(sum(p.skipped), 0)::bigint AS skipped,
               coalesce(sum(p.fetch_ms), 0)::bigint AS fetch, coalesce(max(p.fetch_ms_max), 0) AS fetch_max,
               coalesce(sum(p.slow), 0)::bigint AS slow, max(p.updated_ms) AS updated
          FROM pawl_internal.run_partition p WHERE p.run = r.id) s
     ORDER BY r.id DESC;
END
$$;

-- name: run_start
-- Starts a run in the caller's own transaction.
-- params: name, type of its page jobs; partitions: a JSON array of {"name", "params", "low", "high", "total", "offset", "cursor"};
--   options: key, consolidate, announce, params, spec, target, agent, queue, traceparent, wait_key, parent, page_size, concurrency, rate,
--   rate_ms, paced, deadline_ms, max_attempts, priority, audit, events, end ("handler", "short_page"), policy ("skip",
--   "partial", "wait")
-- returns: answer 1 applied, 2 duplicate (id: the run that has the key), 4 conflict (the parent has ended), 6 no such parent or
--   target; id
-- raises: PW001 the partitions overlap, or are too many
-- tables: run, run_partition (inserted), run_target (read), job_limit, those of run_pages_put and run_fan_in
-- locks: the key, the parent
CREATE OR REPLACE FUNCTION pawl_internal.run_start(
    name text, type text, partitions json DEFAULT '[]', options json DEFAULT '{}', OUT answer smallint, OUT id bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_run pawl_internal.run;
    v_parent pawl_internal.run;
    v_fault record;
BEGIN
    {{needs run_start.name, run_start.type, partitions, options}}
    IF options ->> 'key' IS NOT NULL THEN
        SELECT 2, r.id INTO run_start.answer, run_start.id FROM pawl_internal.run r WHERE r.key = options ->> 'key';
        IF FOUND THEN
            RETURN;
        END IF;
    END IF;
    v_run.parent := nullif((options ->> 'parent')::bigint, 0);
    IF options ->> 'target' IS NOT NULL AND NOT EXISTS (SELECT 1 FROM pawl_internal.run_target t WHERE t.name = options ->> 'target')
       OR v_run.parent IS NOT NULL AND NOT EXISTS (SELECT 1 FROM pawl_internal.run r WHERE r.id = v_run.parent) THEN
        answer := :ANSWER_NOT_FOUND;
        id := 0;
        RETURN;
    END IF;
    IF json_array_length(partitions) > 10000 THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001',
            MESSAGE = format('%s partitions; a run has at most 10000', json_array_length(partitions));
    END IF;
    SELECT a.x ->> 'name' AS first, b.x ->> 'name' AS second INTO v_fault
      FROM (SELECT e.x, lead(e.x) OVER (ORDER BY (e.x ->> 'low')::bigint) AS after FROM json_array_elements(partitions) AS e(x)
             WHERE e.x ->> 'low' IS NOT NULL) a CROSS JOIN LATERAL (SELECT a.after AS x) b
     WHERE (b.x ->> 'low')::bigint < (a.x ->> 'high')::bigint LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format(
            'partitions ''%s'' and ''%s'' overlap; high is not part of a partition, so let one begin where the other ends',
            v_fault.first, v_fault.second);
    END IF;
    v_run.id := nextval('pawl_internal.run_id_seq');
    v_run.key := coalesce(options ->> 'key', 'run-' || v_run.id);
    v_run.concurrency := coalesce((options ->> 'concurrency')::integer, 0);
    v_run.rate := coalesce((options ->> 'rate')::integer, 0);
    v_run.rate_ms := CASE WHEN v_run.rate > 0 THEN coalesce((options ->> 'rate_ms')::bigint, 1000) ELSE 0 END;
    v_run.paced := coalesce((options ->> 'paced')::boolean, false) OR v_run.concurrency > 0 OR v_run.rate > 0;
    v_run.partitions := json_array_length(partitions);
    INSERT INTO pawl_internal.run (id, parent, rate_ms, deadline_ms, started_ms, page_size, concurrency, rate, max_attempts, priority, flags,
                          partitions, remaining, end_rule, policy, paced, key, name, type, queue, consolidate, announce, target, agent,
                          traceparent, wait_key, params, spec)
    VALUES (v_run.id, v_run.parent, v_run.rate_ms, coalesce(nullif((options ->> 'deadline_ms')::bigint, 0), 60000), v_now,
            coalesce(nullif((options ->> 'page_size')::integer, 0), 30), v_run.concurrency, v_run.rate,
            coalesce(nullif((options ->> 'max_attempts')::integer, 0), 5), coalesce((options ->> 'priority')::integer, 0),
            coalesce((options ->> 'audit')::boolean, false)::integer | (coalesce((options ->> 'events')::boolean, false)::integer << 1),
            v_run.partitions, v_run.partitions, CASE coalesce(options ->> 'end', 'handler') WHEN 'handler' THEN :END_HANDLER WHEN 'short_page' THEN :END_SHORT_PAGE ELSE 0 END,
            CASE coalesce(options ->> 'policy', 'skip') WHEN 'skip' THEN :FAILED_SKIP WHEN 'partial' THEN :FAILED_PARTIAL WHEN 'wait' THEN :FAILED_WAIT ELSE 0 END, v_run.paced,
            v_run.key, run_start.name, run_start.type, coalesce(options ->> 'queue', 'default'), options ->> 'consolidate', options ->> 'announce',
            options ->> 'target', coalesce((SELECT r.agent FROM pawl_internal.run r WHERE r.id = v_run.parent), options ->> 'agent'),
            options ->> 'traceparent', options ->> 'wait_key', coalesce(options -> 'params', '{}'),
            coalesce(options -> 'spec', '{}'))
    ON CONFLICT (key) DO NOTHING RETURNING * INTO v_run;
    IF NOT FOUND THEN
        SELECT 2, r.id INTO run_start.answer, run_start.id FROM pawl_internal.run r WHERE r.key = options ->> 'key';
        RETURN;
    END IF;
    answer := :ANSWER_APPLIED;
    id := v_run.id;
    IF v_run.parent IS NOT NULL THEN
        UPDATE pawl_internal.run r SET children_open = r.children_open + 1 WHERE r.id = v_run.parent AND r.state IN (:RUN_IS_RUNNING, :RUN_IS_CONSOLIDATING, :RUN_IS_NESTED, :RUN_IS_IN_REPAIR);
        IF NOT FOUND THEN
            DELETE FROM pawl_internal.run r WHERE r.id = v_run.id;
            answer := :ANSWER_CONFLICT;
            id := 0;
            RETURN;
        END IF;
    END IF;
    INSERT INTO pawl_internal.run_partition (run, part, low, high, total, next_offset, started_ms, updated_ms, bounded, name, cursor, params)
    SELECT v_run.id, e.n - 1, coalesce((e.x ->> 'low')::bigint, 0), coalesce((e.x ->> 'high')::bigint, 0),
           coalesce((e.x ->> 'total')::bigint, -1), coalesce((e.x ->> 'offset')::bigint, 0), v_now, v_now, e.x ->> 'low' IS NOT NULL,
           e.x ->> 'name', CASE WHEN json_typeof(e.x -> 'cursor') <> 'null' THEN (e.x -> 'cursor')::text END,
           CASE WHEN json_typeof(coalesce(e.x -> 'params', 'null')) = 'null' THEN '{}' ELSE e.x -> 'params' END
      FROM json_array_elements(partitions) WITH ORDINALITY AS e(x, n);
    IF v_run.paced THEN
        PERFORM pawl_internal.job_limit_set('run:' || v_run.id, v_run.concurrency, v_run.rate, v_run.rate_ms, 1);
    END IF;
    IF v_run.partitions = 0 THEN
        PERFORM pawl_internal.run_fan_in(v_run, v_now);
    ELSE
        PERFORM pawl_internal.run_pages_put(v_run, NULL, v_now);
    END IF;
END
$$;
