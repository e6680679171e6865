-- work_report: the reports of one kind inside process_work_batch: renewals, completions, failures, releases, new messages.
-- params: p_instance, p_kind, and JSON arrays of objects (NULL: none); p_lease_ms; p_debug; p_consumer; p_request
--         renewals and completions name MessageId and Token (completions also Status), failures also Error, StackTrace,
--         Permanent and DelayMs, releases also DelayMs; messages are those of the sources (StreamKey, MessageType, Payload, …)
-- returns: a JSON object with one array of answers for each array that was not empty
-- raises: PW001 a report without its token (an id alone cannot show that the grant still holds) or id, by item
-- tables: those of renew, complete, fail, release and put
-- locks: those of renew, complete, fail, release and put
CREATE OR REPLACE FUNCTION pawl.work_report(
    p_instance uuid, p_kind smallint, p_renewals jsonb, p_completions jsonb, p_failures jsonb, p_releases jsonb,
    p_messages jsonb, p_lease_ms bigint, p_debug boolean, p_consumer text, p_request uuid) RETURNS jsonb
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_tokens bigint[];
    v_ids uuid[];
    v_numbers bigint[];
    v_errors text[];
    v_classes smallint[];
    v_result jsonb := '{}';
BEGIN
    PERFORM pawl.work_need(format(v.name, CASE p_kind WHEN 1 THEN 'outbox' ELSE 'inbox' END), v.list, ARRAY['MessageId', 'Token'])
       FROM (VALUES ('p_renew_%s_leases', p_renewals), ('p_%s_completions', p_completions),
                    ('p_%s_failures', p_failures), ('p_%s_releases', p_releases)) AS v(name, list);
    IF jsonb_array_length(coalesce(p_renewals, '[]')) > 0 THEN
        SELECT array_agg((e.x ->> 'Token')::bigint ORDER BY e.n), array_agg((e.x ->> 'MessageId')::uuid ORDER BY e.n)
          INTO v_tokens, v_ids FROM jsonb_array_elements(p_renewals) WITH ORDINALITY AS e(x, n);
        v_result := v_result || jsonb_build_object('Renewals',
            pawl.answer_names(pawl.renew(p_instance, p_kind, v_tokens, v_ids, p_lease_ms)));
    END IF;
    IF jsonb_array_length(coalesce(p_completions, '[]')) > 0 THEN
        SELECT array_agg((e.x ->> 'Token')::bigint ORDER BY e.n), array_agg((e.x ->> 'MessageId')::uuid ORDER BY e.n),
               array_agg(coalesce((e.x ->> 'Status')::integer, 0) ORDER BY e.n)
          INTO v_tokens, v_ids, v_numbers FROM jsonb_array_elements(p_completions) WITH ORDINALITY AS e(x, n);
        v_result := v_result || jsonb_build_object('Completions',
            pawl.answer_names(pawl.complete(p_instance, p_kind, v_tokens, v_ids, v_numbers::integer[], p_debug)));
    END IF;
    IF jsonb_array_length(coalesce(p_failures, '[]')) > 0 THEN
        SELECT array_agg((e.x ->> 'Token')::bigint ORDER BY e.n), array_agg((e.x ->> 'MessageId')::uuid ORDER BY e.n),
               array_agg(concat_ws(E'\n', e.x ->> 'Error', e.x ->> 'StackTrace') ORDER BY e.n),
               array_agg(CASE WHEN (e.x ->> 'Permanent')::boolean THEN 2 ELSE 1 END::smallint ORDER BY e.n),
               array_agg(coalesce((e.x ->> 'DelayMs')::bigint, -1) ORDER BY e.n)
          INTO v_tokens, v_ids, v_errors, v_classes, v_numbers
          FROM jsonb_array_elements(p_failures) WITH ORDINALITY AS e(x, n);
        v_result := v_result || (SELECT jsonb_build_object('Failures', pawl.answer_names(f.answers))
            FROM pawl.fail(p_instance, p_kind, v_tokens, v_ids, v_errors, v_classes, v_numbers, '{}', '{}') f);
    END IF;
    IF jsonb_array_length(coalesce(p_releases, '[]')) > 0 THEN
        SELECT array_agg((e.x ->> 'Token')::bigint ORDER BY e.n), array_agg((e.x ->> 'MessageId')::uuid ORDER BY e.n),
               array_agg(coalesce((e.x ->> 'DelayMs')::bigint, 0) ORDER BY e.n)
          INTO v_tokens, v_ids, v_numbers FROM jsonb_array_elements(p_releases) WITH ORDINALITY AS e(x, n);
        v_result := v_result || jsonb_build_object('Releases',
            pawl.answer_names(pawl.release(p_instance, p_kind, v_tokens, v_ids, v_numbers)));
    END IF;
    IF jsonb_array_length(coalesce(p_messages, '[]')) > 0 THEN
        v_result := v_result || jsonb_build_object('NewMessages',
            pawl.answer_names(pawl.work_put(p_kind, p_messages, p_consumer, p_request)));
    END IF;
    RETURN v_result;
END
$$;
