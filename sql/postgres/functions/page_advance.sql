-- page_advance: a page that was fetched, all of it but a user's own table: guard, items, progress, next page, fan-in, job.
-- params: p_instance, p_token, p_id: as granted; p_run, p_part, p_generation, p_page: from the job's payload; p_keys text[],
--         p_payloads json[]: its items; p_more smallint: 0 by rule, 1 yes, 2 no; p_cursor text: of the next page; p_fetch_ms bigint
-- returns: answer 1 applied, 2 duplicate, 3 stale; outcome 1 advanced, 2 finished, 3 skipped, 4 failed; skip as page_guard; where the
--          partition is; the next page's job; whether this was the last open partition; error of a page that leads nowhere; the
--          statement that must store the items in this transaction, and the partition's name for it
-- raises: PW001 an item without a key, or more items than the page size
-- tables: run_partition, run (updated), run_item, job, job_unique, job_tally (inserted), those of jobs_report and run_partition_end
-- locks: the claim, the job, the partition, the items by key, and when the partition ends the run and its parents
CREATE OR REPLACE FUNCTION pawl.page_advance(
    p_instance uuid, p_token bigint, p_id bigint, p_run bigint, p_part integer, p_generation integer, p_page bigint, p_keys text[],
    p_payloads json[], p_more smallint, p_cursor text, p_fetch_ms bigint, OUT answer smallint, OUT outcome smallint, OUT skip smallint,
    OUT next_offset bigint, OUT next_job bigint, OUT last boolean, OUT error text, OUT target text, OUT partition text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    v_now bigint := pawl.now_ms();
    v_count integer := coalesce(cardinality(p_keys), 0);
    v_run pawl.run;
    v_part pawl.run_partition;
    v_more boolean;
    v_stored integer := 0;
    v_key text;
    v_claim pawl.job_claim;
    v_job pawl.job;
BEGIN
    next_job := 0;
    last := false;
    skip := 0;
    SELECT * INTO v_claim FROM pawl.job_claim c WHERE c.token = p_token AND c.instance = p_instance AND c.state = 1 FOR UPDATE;
    IF FOUND THEN
        SELECT * INTO v_job FROM pawl.job j WHERE j.id = p_id AND j.token = p_token AND j.token > 0 FOR UPDATE;
    END IF;
    IF v_job.id IS NULL THEN
        answer := pawl.page_held(p_instance, p_token, p_id);
        RETURN;
    END IF;
    answer := 1;
    SELECT * INTO v_part FROM pawl.run_partition p WHERE p.run = p_run AND p.part = p_part FOR UPDATE;
    IF v_part.state = 3 THEN
        SELECT * INTO v_run FROM pawl.run r WHERE r.id = p_run FOR UPDATE;
    ELSE
        SELECT * INTO v_run FROM pawl.run r WHERE r.id = p_run;
    END IF;
    skip := pawl.page_guard(v_run, v_part, p_generation, p_page);
    next_offset := v_part.next_offset;
    IF skip <> 0 THEN
        outcome := 3;
        PERFORM pawl.page_skip(p_instance, p_token, p_id, p_run, p_part);
        RETURN;
    END IF;
    IF v_count > v_run.page_size THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format('the page has %s items, the run''s page size is %s; the handler must '
            'return no more than it was asked for', v_count, v_run.page_size);
    END IF;
    v_more := CASE WHEN p_more <> 0 THEN p_more = 1 WHEN v_run.end_rule = 2 THEN v_count >= v_run.page_size ELSE p_cursor IS NOT NULL END;
    IF v_more AND (p_cursor = v_part.cursor OR p_cursor IS NULL AND v_count = 0 OR p_page + 1 >= 1000000) THEN
        error := CASE
            WHEN p_cursor = v_part.cursor THEN format('endless loop: page %s returned the cursor it was fetched with; the handler must '
                'return the next one, or say that this was the last page', p_page)
            WHEN p_cursor IS NULL AND v_count = 0 THEN format('endless loop: page %s has no items and says that there is more, so offset '
                '%s would be fetched for ever', p_page, v_part.next_offset)
            ELSE format('endless loop: page %s says that there is more, a partition has at most 1000000 pages', p_page) END;
        PERFORM pawl.run_partition_open(v_run, v_part, v_now);
        -- Before its job: a page that somebody delivered once more may have brought it, whose end says nothing.
        PERFORM pawl.run_partition_end(p_run, p_part, 3::smallint, error, v_now);
        PERFORM pawl.jobs_report(p_instance, ARRAY[p_token], ARRAY[p_id], ARRAY[2::smallint], ARRAY[2::smallint], NULL, ARRAY[p_fetch_ms],
                                 NULL, ARRAY[error], NULL, NULL, NULL, NULL, NULL);
        outcome := 4;
        RETURN;
    END IF;
    IF v_part.state <> 1 THEN
        PERFORM pawl.run_partition_open(v_run, v_part, v_now);
    END IF;
    IF v_count > 0 AND v_run.target IS NULL THEN
        INSERT INTO pawl.run_item (run, part, key, payload)
        SELECT DISTINCT ON (u.key COLLATE "C") p_run, p_part, nullif(u.key, ''), coalesce(u.payload, 'null')
          FROM unnest(p_keys, p_payloads) WITH ORDINALITY AS u(key, payload, n)
         ORDER BY u.key COLLATE "C", u.n DESC
        ON CONFLICT (run, key) DO UPDATE SET payload = excluded.payload, part = excluded.part;
        GET DIAGNOSTICS v_stored = ROW_COUNT;
    ELSIF v_count > 0 THEN
        SELECT count(DISTINCT u.key COLLATE "C") INTO v_stored FROM unnest(p_keys) AS u(key);
        SELECT t.sql INTO target FROM pawl.run_target t WHERE t.name = v_run.target;
        partition := v_part.name;
    END IF;
    next_offset := v_part.next_offset + v_count;
    IF v_more AND NOT (CASE WHEN v_part.state = 3 THEN v_run.paused ELSE v_part.paused END) THEN
        next_job := nextval('pawl.job_seq');
        v_key := 'run:' || p_run || ':' || p_part || ':' || (p_page + 1) || CASE WHEN p_generation > 0 THEN ':' || p_generation ELSE '' END;
        INSERT INTO pawl.job_unique (key, job) VALUES (v_key, next_job);
        INSERT INTO pawl.job (id, ord, due_ms, put_ms, priority, max_attempts, flags, state, special, queue, type, timeout_ms, key,
                              ready_key, unique_key, traceparent, agent, payload)
        VALUES (next_job, v_now - v_run.priority * 60000::bigint, v_now, v_now, v_run.priority, v_run.max_attempts, v_run.flags | 4, 1,
                true, v_run.queue, v_run.type, v_run.deadline_ms, CASE WHEN v_run.paced THEN 'run:' || p_run END,
                CASE WHEN v_run.paced THEN 'run:' || p_run END, v_key, v_run.traceparent, v_run.agent,
                ('{"run":' || p_run || ',"part":' || p_part || ',"generation":' || p_generation || ',"page":' || (p_page + 1) || ',"offset":'
                 || next_offset || ',"limit":' || v_run.page_size || ',"partition":' || to_json(v_part.name) || ',"cursor":'
                 || coalesce(p_cursor, 'null') || '}')::json);
    END IF;
    UPDATE pawl.run_partition p
       SET next_offset = page_advance.next_offset, cursor = p_cursor, page = p.page + 1, job = next_job, items = p.items + v_count,
           repeats = p.repeats + v_count - v_stored, pages = p.pages + 1, fetch_ms = p.fetch_ms + p_fetch_ms,
           fetch_ms_max = greatest(p.fetch_ms_max, p_fetch_ms), fetch_ms_last = p_fetch_ms,
           slow = p.slow + (p_fetch_ms > v_run.deadline_ms)::integer, updated_ms = v_now
     WHERE p.run = p_run AND p.part = p_part;
    outcome := CASE WHEN v_more THEN 1 ELSE 2 END;
    IF NOT v_more THEN
        last := pawl.run_partition_end(p_run, p_part, 2::smallint, NULL, v_now);
    END IF;
    IF v_job.flags & 3 = 0 AND v_job.key IS NULL AND v_job.queue = v_run.queue THEN
        -- Most pages: nothing is kept of the job, and nobody waits for its key.
        DELETE FROM pawl.job_unique u WHERE u.key = v_job.unique_key AND u.job = p_id;
        DELETE FROM pawl.job_step s WHERE s.job = p_id;
        DELETE FROM pawl.job j WHERE j.id = p_id;
        PERFORM pawl.job_claim_leave(v_claim, ARRAY[p_id], true);
        INSERT INTO pawl.job_tally (queue, running, done, put, ready)
        VALUES (v_run.queue, -1, 1, (next_job > 0)::integer, (next_job > 0)::integer);
    ELSE
        PERFORM pawl.jobs_report(p_instance, ARRAY[p_token], ARRAY[p_id], NULL, NULL, NULL, ARRAY[p_fetch_ms], NULL, NULL, NULL, NULL,
                                 NULL, NULL, NULL);
        IF next_job > 0 THEN
            INSERT INTO pawl.job_tally (queue, put, ready) VALUES (v_run.queue, 1, 1);
        END IF;
    END IF;
    IF next_job > 0 THEN
        PERFORM pawl.put_wake(4::smallint, v_now);
    END IF;
END
$$;
