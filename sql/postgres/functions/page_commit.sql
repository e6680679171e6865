-- page_commit: a page that was fetched, in one transaction: items, progress, next page, fan-in and the end of its job.
-- params: as page_advance
-- returns: as page_advance, without the statement
-- raises: PW001 as page_advance, or what the target's statement says
-- tables: those of page_advance, and what the statement names
-- locks: those of page_advance, and the statement's
-- Runs with the rights and the search_path of the caller, as the statement must: no SECURITY DEFINER, every name qualified.
CREATE OR REPLACE FUNCTION pawl.page_commit(
    p_instance uuid, p_token bigint, p_id bigint, p_run bigint, p_part integer, p_generation integer, p_page bigint, p_keys text[],
    p_payloads json[], p_more smallint, p_cursor text, p_fetch_ms bigint, OUT answer smallint, OUT outcome smallint, OUT skip smallint,
    OUT next_offset bigint, OUT next_job bigint, OUT last boolean, OUT error text)
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
    v_done record;
    v_items json;
BEGIN
    IF pg_catalog.array_position(p_keys, NULL) IS NOT NULL OR '' OPERATOR(pg_catalog.=) ANY (p_keys) THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE =
            'an item has no key; the handler must give every item one, or it could be stored twice';
    END IF;
    SELECT * INTO v_done FROM pawl.page_advance(p_instance, p_token, p_id, p_run, p_part, p_generation, p_page, p_keys, p_payloads, p_more,
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
