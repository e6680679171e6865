-- run_progress: the progress of runs: pages, partitions, fan-in, ending.

-- name: page_advance
-- A page that was fetched, all of it but a user's own table: guard, items, progress, next page, fan-in, job.
-- params: p_instance, p_token, p_id: as granted; p_run, p_part, p_generation, p_page: from the job's payload; p_keys text[],
--   p_payloads json[]: its items; p_more smallint: 0 by rule, 1 yes, 2 no; p_cursor text: of the next page; p_fetch_ms bigint
-- returns: answer 1 applied, 2 duplicate, 3 stale; outcome 1 advanced, 2 finished, 3 skipped, 4 failed; skip as page_guard; where the
--   partition is; the next page's job; whether this was the last open partition; error of a page that leads nowhere; the
--   statement that must store the items in this transaction, and the partition's name for it
-- raises: PW001 an item without a key, or more items than the page size
-- tables: run_partition, run (updated), run_item, job, job_unique, job_tally (inserted), those of jobs_report and run_partition_end
-- locks: the claim, the job, the partition, the items by key, and when the partition ends the run and its parents
CREATE OR REPLACE FUNCTION pawl_internal.page_advance(
    p_instance uuid, p_token bigint, p_id bigint, p_run bigint, p_part integer, p_generation integer, p_page bigint, p_keys text[],
    p_payloads json[], p_more smallint, p_cursor text, p_fetch_ms bigint, OUT answer smallint, OUT outcome smallint, OUT skip smallint,
    OUT next_offset bigint, OUT next_job bigint, OUT last boolean, OUT error text, OUT target text, OUT partition text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_count integer := coalesce(cardinality(p_keys), 0);
    v_run pawl_internal.run;
    v_part pawl_internal.run_partition;
    v_more boolean;
    v_stored integer := 0;
    v_key text;
    v_claim pawl_internal.job_claim;
    v_job pawl_internal.job;
BEGIN
    {{items p_keys, p_payloads?}}
    next_job := 0;
    last := false;
    skip := 0;
    SELECT * INTO v_claim FROM pawl_internal.job_claim c WHERE c.token = p_token AND c.instance = p_instance AND c.state = :CLAIM_ACTIVE FOR UPDATE;
    IF FOUND THEN
        SELECT * INTO v_job FROM pawl_internal.job j WHERE j.id = p_id AND j.token = p_token AND j.token > 0 FOR UPDATE;
    END IF;
    IF v_job.id IS NULL THEN
        answer := pawl_internal.page_held(p_instance, p_token, p_id);
        RETURN;
    END IF;
    answer := :ANSWER_APPLIED;
    SELECT * INTO v_part FROM pawl_internal.run_partition p WHERE p.run = p_run AND p.part = p_part FOR UPDATE;
    IF v_part.state = :PART_FAILED THEN
        SELECT * INTO v_run FROM pawl_internal.run r WHERE r.id = p_run FOR UPDATE;
    ELSE
        SELECT * INTO v_run FROM pawl_internal.run r WHERE r.id = p_run;
    END IF;
    skip := pawl_internal.page_guard(v_run, v_part, p_generation, p_page);
    next_offset := v_part.next_offset;
    IF skip <> 0 THEN
        outcome := 3;
        PERFORM pawl_internal.page_skip(p_instance, p_token, p_id, p_run, p_part);
        RETURN;
    END IF;
    IF v_count > v_run.page_size THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format('the page has %s items, the run''s page size is %s; the handler must '
            'return no more than it was asked for', v_count, v_run.page_size);
    END IF;
    v_more := CASE WHEN p_more <> 0 THEN p_more = 1 WHEN v_run.end_rule = :END_SHORT_PAGE THEN v_count >= v_run.page_size ELSE p_cursor IS NOT NULL END;
    IF v_more AND (p_cursor = v_part.cursor OR p_cursor IS NULL AND v_count = 0 OR p_page + 1 >= 1000000) THEN
        error := CASE
            WHEN p_cursor = v_part.cursor THEN format('endless loop: page %s returned the cursor it was fetched with; the handler must '
                'return the next one, or say that this was the last page', p_page)
            WHEN p_cursor IS NULL AND v_count = 0 THEN format('endless loop: page %s has no items and says that there is more, so offset '
                '%s would be fetched for ever', p_page, v_part.next_offset)
            ELSE format('endless loop: page %s says that there is more, a partition has at most 1000000 pages', p_page) END;
        PERFORM pawl_internal.run_partition_open(v_run, v_part, v_now);
        -- Before its job: a page that was delivered twice may have brought it, and the end of that one says nothing.
        PERFORM pawl_internal.run_partition_end(p_run, p_part, :PART_FAILED::smallint, error, v_now);
        PERFORM pawl_internal.jobs_report(p_instance, ARRAY[p_token], ARRAY[p_id], ARRAY[2::smallint], ARRAY[2::smallint], NULL, ARRAY[p_fetch_ms],
                                 NULL, ARRAY[error], NULL, NULL, NULL, NULL, NULL);
        outcome := 4;
        RETURN;
    END IF;
    IF v_part.state <> :PART_ACTIVE THEN
        PERFORM pawl_internal.run_partition_open(v_run, v_part, v_now);
    END IF;
    IF v_count > 0 AND v_run.target IS NULL THEN
        INSERT INTO pawl_internal.run_item (run, part, key, payload)
        SELECT DISTINCT ON (u.key COLLATE "C") p_run, p_part, nullif(u.key, ''), coalesce(u.payload, 'null')
          FROM unnest(p_keys, p_payloads) WITH ORDINALITY AS u(key, payload, n)
         ORDER BY u.key COLLATE "C", u.n DESC
        ON CONFLICT (run, key) DO UPDATE SET payload = excluded.payload, part = excluded.part;
        GET DIAGNOSTICS v_stored = ROW_COUNT;
    ELSIF v_count > 0 THEN
        SELECT count(DISTINCT u.key COLLATE "C") INTO v_stored FROM unnest(p_keys) AS u(key);
        SELECT t.sql INTO target FROM pawl_internal.run_target t WHERE t.name = v_run.target;
        partition := v_part.name;
    END IF;
    next_offset := v_part.next_offset + v_count;
    IF v_more AND NOT (CASE WHEN v_part.state = :PART_FAILED THEN v_run.paused ELSE v_part.paused END) THEN
        next_job := nextval('pawl_internal.job_seq');
        v_key := 'run:' || p_run || ':' || p_part || ':' || (p_page + 1) || CASE WHEN p_generation > 0 THEN ':' || p_generation ELSE '' END;
        INSERT INTO pawl_internal.job_unique (key, job) VALUES (v_key, next_job);
        INSERT INTO pawl_internal.job (id, ord, due_ms, put_ms, priority, max_attempts, flags, state, special, queue, type, timeout_ms, key,
                              ready_key, unique_key, traceparent, agent, payload)
        VALUES (next_job, v_now - v_run.priority * 60000::bigint, v_now, v_now, v_run.priority, v_run.max_attempts, v_run.flags | 4, 1,
                true, v_run.queue, v_run.type, v_run.deadline_ms, CASE WHEN v_run.paced THEN 'run:' || p_run END,
                CASE WHEN v_run.paced THEN 'run:' || p_run END, v_key, v_run.traceparent, v_run.agent,
                ('{"run":' || p_run || ',"part":' || p_part || ',"generation":' || p_generation || ',"page":' || (p_page + 1) || ',"offset":'
                 || next_offset || ',"limit":' || v_run.page_size || ',"partition":' || to_json(v_part.name) || ',"cursor":'
                 || coalesce(p_cursor, 'null') || '}')::json);
    END IF;
    UPDATE pawl_internal.run_partition p
       SET next_offset = page_advance.next_offset, cursor = p_cursor, page = p.page + 1, job = next_job, items = p.items + v_count,
           repeats = p.repeats + v_count - v_stored, pages = p.pages + 1, fetch_ms = p.fetch_ms + p_fetch_ms,
           fetch_ms_max = greatest(p.fetch_ms_max, p_fetch_ms), fetch_ms_last = p_fetch_ms,
           slow = p.slow + (p_fetch_ms > v_run.deadline_ms)::integer, updated_ms = v_now
     WHERE p.run = p_run AND p.part = p_part;
    outcome := CASE WHEN v_more THEN 1 ELSE 2 END;
    IF NOT v_more THEN
        last := pawl_internal.run_partition_end(p_run, p_part, :PART_DONE::smallint, NULL, v_now);
    END IF;
    IF v_job.flags & 3 = 0 AND v_job.key IS NULL AND v_job.queue = v_run.queue AND v_part.job = p_id THEN
        -- Most pages: nothing is kept of the job, no job waits for its key, and no other partition waits for it.
        DELETE FROM pawl_internal.job_unique u WHERE u.key = v_job.unique_key AND u.job = p_id;
        DELETE FROM pawl_internal.job_step s WHERE s.job = p_id;
        DELETE FROM pawl_internal.job j WHERE j.id = p_id;
        PERFORM pawl_internal.job_claim_leave(v_claim, ARRAY[p_id], true);
        INSERT INTO pawl_internal.job_tally (queue, running, done, put, ready)
        VALUES (v_run.queue, -1, 1, (next_job > 0)::integer, (next_job > 0)::integer);
    ELSE
        PERFORM pawl_internal.jobs_report(p_instance, ARRAY[p_token], ARRAY[p_id], NULL, NULL, NULL, ARRAY[p_fetch_ms], NULL, NULL, NULL, NULL,
                                 NULL, NULL, NULL);
        IF next_job > 0 THEN
            INSERT INTO pawl_internal.job_tally (queue, put, ready) VALUES (v_run.queue, 1, 1);
        END IF;
    END IF;
    IF next_job > 0 THEN
        PERFORM pawl_internal.put_wake(:PAWL_JOB::smallint, v_now);
    END IF;
END
$$;

-- name: page_begin
-- What to fetch for a page, or that there is nothing to do; then its job is completed.
-- params: p_instance, p_token, p_id: as granted; p_run, p_part, p_generation, p_page: from the job's payload
-- returns: answer 1 applied, 2 duplicate, 3 stale; outcome 1 fetch it, 3 skipped; skip as page_guard, 6 paused; what the handler needs
-- tables: run, run_partition (read), those of page_skip
-- locks: the claim, the job, and when it is skipped the partition
CREATE OR REPLACE FUNCTION pawl_internal.page_begin(
    p_instance uuid, p_token bigint, p_id bigint, p_run bigint, p_part integer, p_generation integer, p_page bigint,
    OUT answer smallint, OUT outcome smallint, OUT skip smallint, OUT run_key text, OUT run_name text, OUT run_params json,
    OUT spec json, OUT partition text, OUT params json, OUT cursor text, OUT traceparent text, OUT bounded boolean, OUT low bigint,
    OUT high bigint, OUT total bigint, OUT start_offset bigint, OUT next_offset bigint, OUT deadline_ms bigint, OUT page_size integer,
    OUT end_rule smallint, OUT agent text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_run pawl_internal.run;
    v_part pawl_internal.run_partition;
BEGIN
    outcome := 3;
    skip := 0;
    answer := pawl_internal.page_held(p_instance, p_token, p_id);
    IF answer <> :ANSWER_APPLIED THEN
        RETURN;
    END IF;
    SELECT * INTO v_part FROM pawl_internal.run_partition p WHERE p.run = p_run AND p.part = p_part;
    SELECT * INTO v_run FROM pawl_internal.run r WHERE r.id = p_run;
    skip := pawl_internal.page_guard(v_run, v_part, p_generation, p_page);
    IF skip <> 0 OR v_part.paused AND v_part.state = :PART_ACTIVE THEN
        -- Now for good: what was read may have changed.
        SELECT * INTO v_part FROM pawl_internal.run_partition p WHERE p.run = p_run AND p.part = p_part FOR UPDATE;
        SELECT * INTO v_run FROM pawl_internal.run r WHERE r.id = p_run;
        skip := pawl_internal.page_guard(v_run, v_part, p_generation, p_page);
        IF skip = 0 AND v_part.paused AND v_part.state = :PART_ACTIVE THEN
            skip := 6;
            UPDATE pawl_internal.run_partition p SET job = 0 WHERE p.run = p_run AND p.part = p_part AND p.job = p_id;
        END IF;
    END IF;
    next_offset := v_part.next_offset;
    IF skip <> 0 THEN
        PERFORM pawl_internal.page_skip(p_instance, p_token, p_id, p_run, p_part);
        RETURN;
    END IF;
    outcome := 1;
    run_key := v_run.key;
    run_name := v_run.name;
    run_params := v_run.params;
    spec := v_run.spec;
    partition := v_part.name;
    params := v_part.params;
    cursor := v_part.cursor;
    traceparent := v_run.traceparent;
    bounded := v_part.bounded;
    low := v_part.low;
    high := v_part.high;
    total := v_part.total;
    start_offset := v_part.next_offset;
    deadline_ms := v_run.deadline_ms;
    page_size := v_run.page_size;
    end_rule := v_run.end_rule;
    agent := v_run.agent;
END
$$;

-- name: page_commit
-- A page that was fetched, in one transaction: items, progress, next page, fan-in and the end of its job.
-- params: as page_advance
-- returns: as page_advance, without the statement
-- raises: PW001 as page_advance, or what the target's statement says
-- tables: those of page_advance, and what the statement names
-- locks: those of page_advance, and the statement's
-- Runs with the rights and the search_path of the caller, as the statement must: no SECURITY DEFINER, every name qualified.
-- search_path: the caller's
CREATE OR REPLACE FUNCTION pawl_internal.page_commit(
    p_instance uuid, p_token bigint, p_id bigint, p_run bigint, p_part integer, p_generation integer, p_page bigint, p_keys text[],
    p_payloads json[], p_more smallint, p_cursor text, p_fetch_ms bigint, OUT answer smallint, OUT outcome smallint, OUT skip smallint,
    OUT next_offset bigint, OUT next_job bigint, OUT last boolean, OUT error text)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_done record;
    v_items json;
BEGIN
    {{items p_keys, p_payloads?}}
    IF pg_catalog.array_position(p_keys, NULL) IS NOT NULL OR '' OPERATOR(pg_catalog.=) ANY (p_keys) THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE =
            'an item has no key; the handler must give every item one, or it could be stored twice';
    END IF;
    SELECT * INTO v_done FROM pawl_internal.page_advance(p_instance, p_token, p_id, p_run, p_part, p_generation, p_page, p_keys, p_payloads, p_more,
                                                p_cursor, p_fetch_ms);
    answer := v_done.answer;
    outcome := v_done.outcome;
    skip := v_done.skip;
    next_offset := v_done.next_offset;
    next_job := v_done.next_job;
    last := v_done.last;
    error := v_done.error;
    IF v_done.target IS NULL THEN
        RETURN;
    END IF;
    SELECT pg_catalog.json_agg(pg_catalog.json_build_object('run', p_run, 'partition', v_done.partition, 'key', d.key,
                                                            'payload', d.payload) ORDER BY d.key) INTO v_items
      FROM (SELECT DISTINCT ON (u.key COLLATE pg_catalog."C") u.key COLLATE pg_catalog."C" AS key, u.payload
              FROM ROWS FROM (pg_catalog.unnest(p_keys), pg_catalog.unnest(p_payloads)) WITH ORDINALITY AS u(key, payload, n)
             ORDER BY u.key COLLATE pg_catalog."C", u.n DESC) d;
    BEGIN
        EXECUTE v_done.target USING v_items;
    EXCEPTION
        WHEN deadlock_detected OR serialization_failure OR lock_not_available OR query_canceled THEN
            RAISE;
        WHEN OTHERS THEN
            RAISE EXCEPTION USING ERRCODE = 'PW001',
                MESSAGE = pg_catalog.format('the statement of the run''s target failed: %s', SQLERRM);
    END;
END
$$;

-- name: page_guard
-- Why a page is not let through.
-- params: p_run pawl_internal.run, p_part pawl_internal.run_partition: NULL when there is none; p_generation integer, p_page bigint: of the page
-- returns: 0 it is, 1 behind, 2 ahead, 3 of an old generation, 4 its partition is done, 5 its run has ended, 7 there is no such page
CREATE OR REPLACE FUNCTION pawl_internal.page_guard(p_run pawl_internal.run, p_part pawl_internal.run_partition, p_generation integer, p_page bigint)
    RETURNS smallint
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN CASE WHEN p_run.id IS NULL OR p_part.run IS NULL THEN 7
                WHEN p_part.state = :PART_DONE THEN 4
                WHEN p_part.state = :PART_CANCELLED OR p_run.state NOT IN (:RUN_IS_RUNNING, :RUN_IS_IN_REPAIR, :RUN_IS_FAILED) THEN 5
                WHEN p_generation <> p_part.generation THEN 3
                WHEN p_page < p_part.page THEN 1
                WHEN p_page > p_part.page THEN 2
                ELSE 0 END;
END
$$;

-- name: page_held
-- Whether the caller holds a page's job; locks what the end of that job needs.
-- params: p_instance, p_token, p_id: as granted
-- returns: 1 held, 2 reported before under that token, 3 the grant has ended (counted)
-- tables: job_claim, job (read), those of jobs_report when it is not held
-- locks: the claim, then the job
CREATE OR REPLACE FUNCTION pawl_internal.page_held(p_instance uuid, p_token bigint, p_id bigint) RETURNS smallint
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_answers smallint[];
BEGIN
    PERFORM 1 FROM pawl_internal.job_claim c WHERE c.token = p_token AND c.instance = p_instance AND c.state = :CLAIM_ACTIVE FOR UPDATE;
    IF FOUND THEN
        PERFORM 1 FROM pawl_internal.job j WHERE j.id = p_id AND j.token = p_token AND j.token > 0 FOR UPDATE;
        IF FOUND THEN
            RETURN 1;
        END IF;
    END IF;
    SELECT r.answers INTO v_answers
      FROM pawl_internal.jobs_report(p_instance, ARRAY[p_token], ARRAY[p_id], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) r;
    RETURN v_answers[1];
END
$$;

-- name: page_select
-- The items of a page that a named statement selects; it may read, not write.
-- params: p_name text, p_page text (JSON: what is known of the page)
-- returns: key, payload, in the statement's order; nothing when there is no such statement
-- raises: PW001 with what the statement says
-- tables: run_target (read), and what the statement names
-- locks: the statement's
-- Runs with the rights and the search_path of the caller, as the statement must: no SECURITY DEFINER, every name qualified.
-- search_path: the caller's
CREATE OR REPLACE FUNCTION pawl_internal.page_select(p_name text, p_page text) RETURNS TABLE (key text, payload text)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    v_sql text;
BEGIN
    SELECT t.sql INTO v_sql FROM pawl_internal.run_targets() t WHERE t.name OPERATOR(pg_catalog.=) p_name;
    IF v_sql IS NULL THEN
        RETURN;
    END IF;
    PERFORM pg_catalog.set_config('transaction_read_only', 'on', true);
    BEGIN
        RETURN QUERY EXECUTE pg_catalog.format('SELECT q.key::pg_catalog.text, q.payload::pg_catalog.text FROM (%s) AS q(key, payload)',
                                               pg_catalog.rtrim(v_sql, E' \n\t;')) USING p_page::pg_catalog.json;
    EXCEPTION
        WHEN deadlock_detected OR serialization_failure OR lock_not_available OR query_canceled THEN
            RAISE;
        WHEN OTHERS THEN
            RAISE EXCEPTION USING ERRCODE = 'PW001',
                MESSAGE = pg_catalog.format('the statement %s failed: %s', p_name, SQLERRM);
    END;
END
$$;

-- name: page_skip
-- A page that is not let through: counted, and its job completed.
-- params: p_instance, p_token, p_id: as granted and held; p_run bigint, p_part integer
-- tables: run_partition (updated), those of jobs_report
-- locks: those of jobs_report; the partition is locked by the caller
CREATE OR REPLACE FUNCTION pawl_internal.page_skip(p_instance uuid, p_token bigint, p_id bigint, p_run bigint, p_part integer) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    UPDATE pawl_internal.run_partition p SET skipped = p.skipped + 1 WHERE p.run = p_run AND p.part = p_part;
    PERFORM pawl_internal.jobs_report(p_instance, ARRAY[p_token], ARRAY[p_id], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
END
$$;

-- name: run_consolidate
-- A round of the consolidation of a run that has no open partition.
-- params: p_id bigint (locked by the caller), p_now bigint
-- tables: run (updated), those of job_insert
-- locks: the run, the unique key of the job
CREATE OR REPLACE FUNCTION pawl_internal.run_consolidate(p_id bigint, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_run pawl_internal.run;
    v_job pawl_internal.job;
    v_id bigint;
BEGIN
    UPDATE pawl_internal.run r SET round = r.round + 1, state = CASE WHEN r.consolidate IS NULL THEN r.state ELSE :RUN_IS_CONSOLIDATING END
     WHERE r.id = p_id RETURNING r.* INTO v_run;
    IF v_run.consolidate IS NULL THEN
        PERFORM pawl_internal.run_consolidated(p_id, p_now);
        RETURN;
    END IF;
    v_job.type := v_run.consolidate;
    v_job.queue := v_run.queue;
    v_job.priority := v_run.priority;
    v_job.max_attempts := v_run.max_attempts;
    v_job.flags := v_run.flags | 4;
    v_job.traceparent := v_run.traceparent;
    v_job.agent := v_run.agent;
    v_job.unique_key := format('run:%s:consolidate:%s', p_id, v_run.round);
    v_job.payload := format('{"run":%s,"round":%s,"key":%s,"name":%s,"partitions":%s,"done":%s,"failed":%s,"items":%s}', p_id,
        v_run.round, to_json(v_run.key), to_json(v_run.name), v_run.partitions, v_run.done, v_run.failed,
        (SELECT coalesce(sum(p.items), 0) FROM pawl_internal.run_partition p WHERE p.run = p_id))::json;
    SELECT i.id INTO v_id FROM pawl_internal.job_insert(v_job, p_now) i;
    UPDATE pawl_internal.run r SET job = v_id WHERE r.id = p_id;
    PERFORM pawl_internal.put_wake(:PAWL_JOB::smallint, p_now);
END
$$;

-- name: run_consolidated
-- The consolidation has ended, or there was none to do.
-- params: p_id bigint, p_now bigint
-- tables: run (updated), those of run_end
-- locks: the run, then its parents
CREATE OR REPLACE FUNCTION pawl_internal.run_consolidated(p_id bigint, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_run pawl_internal.run;
BEGIN
    UPDATE pawl_internal.run r SET consolidated = true, job = 0, state = CASE WHEN r.children_open > 0 THEN :RUN_IS_NESTED ELSE r.state END
     WHERE r.id = p_id RETURNING r.* INTO v_run;
    IF v_run.children_open = 0 THEN
        PERFORM pawl_internal.run_nest_end(v_run, p_now);
    END IF;
END
$$;

-- name: run_end
-- A run ends: its limit goes, jobs that wait for it wake up, its parent counts it.
-- params: p_id bigint; p_state smallint: 5 completed, 6 failed, 7 cancelled; p_error text; p_now bigint
-- tables: run (updated), job_limit (deleted), those of jobs_wake
-- locks: the run, then its parents; the wait key
CREATE OR REPLACE FUNCTION pawl_internal.run_end(p_id bigint, p_state smallint, p_error text, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_run pawl_internal.run;
    v_parent pawl_internal.run;
BEGIN
    UPDATE pawl_internal.run r SET state = p_state, ended_ms = p_now, error = pawl_internal.text_cut(p_error, 4096) WHERE r.id = p_id
    RETURNING r.* INTO v_run;
    IF v_run.paced THEN
        DELETE FROM pawl_internal.job_limit l WHERE l.key = 'run:' || p_id;
    END IF;
    IF v_run.wait_key IS NOT NULL THEN
        PERFORM pawl_internal.jobs_wake(v_run.wait_key, format('{"run":%s,"key":%s,"state":"%s"}', p_id, to_json(v_run.key),
            CASE p_state WHEN 5 THEN 'completed' WHEN 6 THEN 'failed' ELSE 'cancelled' END)::json, 604800000);
    END IF;
    IF v_run.parent IS NOT NULL THEN
        UPDATE pawl_internal.run r SET children_open = r.children_open - 1,
                              children_failed = r.children_failed + CASE WHEN p_state = :RUN_IS_COMPLETED THEN 0 ELSE 1 END
         WHERE r.id = v_run.parent RETURNING r.* INTO v_parent;
        IF v_parent.state = :RUN_IS_NESTED AND v_parent.children_open = 0 THEN
            PERFORM pawl_internal.run_nest_end(v_parent, p_now);
        END IF;
    END IF;
END
$$;

-- name: run_fan_in
-- What follows when no partition of a run is open.
-- params: p_run pawl_internal.run (locked, as it is now), p_now bigint
-- tables: those of run_consolidate and run_end
-- locks: those of run_consolidate and run_end
CREATE OR REPLACE FUNCTION pawl_internal.run_fan_in(p_run pawl_internal.run, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF p_run.failed = 0 OR p_run.policy = :FAILED_PARTIAL THEN
        PERFORM pawl_internal.run_consolidate(p_run.id, p_now);
    ELSIF p_run.policy = :FAILED_WAIT THEN
        UPDATE pawl_internal.run r SET state = :RUN_IS_IN_REPAIR WHERE r.id = p_run.id;
    ELSE
        PERFORM pawl_internal.run_end(p_run.id, :RUN_IS_FAILED::smallint, format('%s of %s partitions failed', p_run.failed, p_run.partitions), p_now);
    END IF;
END
$$;

-- name: run_job_ended
-- A job of a run ended for good in another way than by page_commit.
-- params: p_job pawl_internal.job; p_how smallint: 1 completed, 2 cancelled, 3 dead; p_error text; p_now bigint
-- returns: nothing; a job that its partition or run does not wait for ends without a trace
-- tables: those of run_partition_end, run_end, run_consolidated
-- locks: the partition, then the run and its parents
CREATE OR REPLACE FUNCTION pawl_internal.run_job_ended(p_job pawl_internal.job, p_how smallint, p_error text, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_name text[] := string_to_array(p_job.unique_key, ':');
    v_run pawl_internal.run;
    v_why text := CASE p_how WHEN 1 THEN format('its job %s was completed without a page', p_job.id)
                             WHEN 2 THEN format('its job %s was cancelled', p_job.id) ELSE coalesce(p_error, 'its job died') END;
BEGIN
    IF v_name[3] <> 'consolidate' THEN
        PERFORM 1 FROM pawl_internal.run_partition p
          WHERE p.run = v_name[2]::bigint AND p.part = v_name[3]::integer AND p.state = :PART_ACTIVE AND p.job = p_job.id FOR UPDATE;
        IF FOUND THEN
            PERFORM pawl_internal.run_partition_end(v_name[2]::bigint, v_name[3]::integer, :PART_FAILED::smallint, v_why, p_now);
        END IF;
        RETURN;
    END IF;
    SELECT * INTO v_run FROM pawl_internal.run r WHERE r.id = v_name[2]::bigint AND r.job = p_job.id FOR UPDATE;
    IF NOT FOUND OR NOT (v_run.state = :RUN_IS_CONSOLIDATING OR v_run.state = :RUN_IS_FAILED AND p_how = 1) THEN
        RETURN;
    END IF;
    IF p_how <> 1 THEN
        PERFORM pawl_internal.run_end(v_run.id, :RUN_IS_FAILED::smallint, 'the consolidation failed: ' || v_why, p_now);
        RETURN;
    END IF;
    IF v_run.state = :RUN_IS_FAILED THEN
        PERFORM pawl_internal.run_open(v_run, :RUN_IS_CONSOLIDATING::smallint);
    END IF;
    PERFORM pawl_internal.run_consolidated(v_run.id, p_now);
END
$$;

-- name: run_nest_end
-- A run that has consolidated and has no open children ends as they did.
-- params: p_run pawl_internal.run (locked), p_now bigint
-- tables: those of run_end
-- locks: those of run_end
CREATE OR REPLACE FUNCTION pawl_internal.run_nest_end(p_run pawl_internal.run, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM pawl_internal.run_end(p_run.id, CASE WHEN p_run.children_failed > 0 THEN :RUN_IS_FAILED ELSE :RUN_IS_COMPLETED END::smallint,
                         CASE WHEN p_run.children_failed > 0 THEN format('%s of its child runs failed', p_run.children_failed) END, p_now);
END
$$;

-- name: run_pages_put
-- The page jobs of active partitions that have none.
-- params: p_run pawl_internal.run; p_parts integer[]: of these only (NULL: of all); p_now bigint
-- returns: nothing; a partition that is paused gets none
-- tables: run_partition (updated), job, job_unique, job_tally (inserted)
-- locks: the partitions are locked by the caller; unique keys
CREATE OR REPLACE FUNCTION pawl_internal.run_pages_put(p_run pawl_internal.run, p_parts integer[], p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET jit = off AS $$
BEGIN
    WITH src AS MATERIALIZED (
        SELECT p.part, nextval('pawl_internal.job_seq') AS id,
               'run:' || p.run || ':' || p.part || ':' || p.page || CASE WHEN p.generation > 0 THEN ':' || p.generation ELSE '' END AS key,
               format('{"run":%s,"part":%s,"generation":%s,"page":%s,"offset":%s,"limit":%s,"partition":%s,"cursor":%s}', p.run, p.part,
                      p.generation, p.page, p.next_offset, p_run.page_size, to_json(p.name), coalesce(p.cursor, 'null'))::json AS payload
          FROM pawl_internal.run_partition p
         WHERE p.run = p_run.id AND p.state = :PART_ACTIVE AND NOT p.paused AND p.job = 0 AND (p_parts IS NULL OR p.part = ANY (p_parts))
         ORDER BY p.part),
    keys AS (
        INSERT INTO pawl_internal.job_unique (key, job) SELECT s.key, s.id FROM src s ORDER BY s.part),
    jobs AS (
        INSERT INTO pawl_internal.job (id, ord, due_ms, put_ms, priority, max_attempts, flags, state, special, queue, type, timeout_ms, key,
                              ready_key, unique_key, traceparent, agent, payload)
        SELECT s.id, p_now - p_run.priority * 60000::bigint, p_now, p_now, p_run.priority, p_run.max_attempts, p_run.flags | 4, 1, true,
               p_run.queue, p_run.type, p_run.deadline_ms, CASE WHEN p_run.paced THEN 'run:' || p_run.id END,
               CASE WHEN p_run.paced THEN 'run:' || p_run.id END, s.key, p_run.traceparent, p_run.agent, s.payload
          FROM src s ORDER BY s.part),
    counted AS (
        INSERT INTO pawl_internal.job_tally (queue, put, ready) SELECT p_run.queue, count(*), count(*) FROM src s HAVING count(*) > 0)
    UPDATE pawl_internal.run_partition p SET job = s.id FROM src s WHERE p.run = p_run.id AND p.part = s.part;
    PERFORM pawl_internal.put_wake(:PAWL_JOB::smallint, p_now);
END
$$;

-- name: run_partition_end
-- An active partition ends, and the fan-in follows; only the transaction that flips it counts it.
-- params: p_run bigint, p_part integer (locked by the caller); p_state smallint: 2 done, 3 failed; p_error text; p_now bigint
-- returns: whether none is left
-- tables: run_partition, run (updated), those of job_insert and run_fan_in
-- locks: the run, then those of run_fan_in
CREATE OR REPLACE FUNCTION pawl_internal.run_partition_end(p_run bigint, p_part integer, p_state smallint, p_error text, p_now bigint)
    RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_part pawl_internal.run_partition;
    v_run pawl_internal.run;
    v_job pawl_internal.job;
BEGIN
    UPDATE pawl_internal.run_partition p SET state = p_state, error = pawl_internal.text_cut(p_error, 4096), ended_ms = p_now, updated_ms = p_now
     WHERE p.run = p_run AND p.part = p_part RETURNING p.* INTO v_part;
    UPDATE pawl_internal.run r SET remaining = r.remaining - 1, done = r.done + (p_state = :PART_DONE)::integer,
                          failed = r.failed + (p_state = :PART_FAILED)::integer
     WHERE r.id = p_run RETURNING r.* INTO v_run;
    IF v_run.announce IS NOT NULL THEN
        v_job.type := v_run.announce;
        v_job.queue := v_run.queue;
        v_job.priority := v_run.priority;
        v_job.max_attempts := v_run.max_attempts;
        v_job.flags := v_run.flags;
        v_job.traceparent := v_run.traceparent;
        v_job.agent := v_run.agent;
        v_job.unique_key := format('run:%s:%s:done:%s', p_run, p_part, v_part.generation);
        v_job.payload := format('{"run":%s,"part":%s,"generation":%s,"partition":%s,"status":"%s","items":%s,"error":%s}', p_run, p_part,
            v_part.generation, to_json(v_part.name), CASE WHEN p_state = :PART_DONE THEN 'done' ELSE 'failed' END, v_part.items,
            coalesce(to_json(v_part.error), 'null'))::json;
        PERFORM pawl_internal.job_insert(v_job, p_now);
        PERFORM pawl_internal.put_wake(:PAWL_JOB::smallint, p_now);
    END IF;
    IF v_run.remaining = 0 THEN
        PERFORM pawl_internal.run_fan_in(v_run, p_now);
    END IF;
    RETURN v_run.remaining = 0;
END
$$;

-- name: run_partition_open
-- A partition that is done or failed is worked on again, and so is its run.
-- params: p_run pawl_internal.run, p_part pawl_internal.run_partition, both locked and as they are now; p_now bigint
-- tables: run_partition, run (updated), those of run_open
-- locks: those of run_open
CREATE OR REPLACE FUNCTION pawl_internal.run_partition_open(p_run pawl_internal.run, p_part pawl_internal.run_partition, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF p_part.state = :PART_ACTIVE THEN
        RETURN;
    END IF;
    UPDATE pawl_internal.run_partition p SET state = :PART_ACTIVE, paused = p_run.paused, error = NULL, ended_ms = 0, updated_ms = p_now
     WHERE p.run = p_part.run AND p.part = p_part.part;
    UPDATE pawl_internal.run r SET remaining = r.remaining + 1, done = r.done - (p_part.state = :PART_DONE)::integer,
                          failed = r.failed - (p_part.state = :PART_FAILED)::integer
     WHERE r.id = p_run.id;
    IF p_run.state <> :RUN_IS_RUNNING THEN
        PERFORM pawl_internal.run_open(p_run, :RUN_IS_RUNNING::smallint);
    END IF;
END
$$;

-- name: view_items
-- The items of a run.
-- params: p_run bigint, p_part integer (-1: any), p_after text (NULL: from the first), p_limit integer
-- returns: part, key, payload, by key
-- tables: run_item (read)
CREATE OR REPLACE FUNCTION pawl_internal.view_items(p_run bigint, p_part integer, p_after text, p_limit integer)
    RETURNS TABLE (part integer, key text, payload json)
LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
#variable_conflict use_column
BEGIN
    PERFORM pawl_internal.refuse_range('limit', p_limit, 0, 1000000);
    RETURN QUERY SELECT i.part, i.key, i.payload FROM pawl_internal.run_item i
                  WHERE i.run = p_run AND (p_part < 0 OR i.part = p_part) AND (p_after IS NULL OR i.key > p_after)
                  ORDER BY i.key LIMIT p_limit;
END
$$;
