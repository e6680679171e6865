-- work_checkpoints: the reports of checkpoints inside process_work_batch: renewals, completions, failures, releases.
-- params: p_instance, and JSON arrays of objects (NULL: none) that name StreamId, PerspectiveName and Token as they were granted;
--         completions also Version: applied through (below the stream's head: it is due again at once) and Status (2, or 1: it
--         goes on with it), failures Version, Error and DelayMs, releases Version; p_lease_ms
-- returns: a JSON object with one array of answers for each array that was not empty
-- raises: PW001 a report without stream, perspective or version, by item; one without a token is stale, as with a wrong one
-- tables: those of checkpoints_renew and checkpoints_report
-- locks: those of checkpoints_renew and checkpoints_report
CREATE OR REPLACE FUNCTION pawl.work_checkpoints(
    p_instance uuid, p_renewals jsonb, p_completions jsonb, p_failures jsonb, p_releases jsonb, p_lease_ms bigint) RETURNS jsonb
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_result jsonb := '{}';
    v_part record;
BEGIN
    PERFORM pawl.work_need('p_renew_perspective_leases', p_renewals, ARRAY['StreamId', 'PerspectiveName']);
    PERFORM pawl.work_need(v.name, v.list, ARRAY['StreamId', 'PerspectiveName', 'Version'])
       FROM (VALUES ('p_perspective_completions', p_completions), ('p_perspective_failures', p_failures),
                    ('p_perspective_releases', p_releases)) AS v(name, list);
    IF jsonb_array_length(coalesce(p_renewals, '[]')) > 0 THEN
        v_result := v_result || (
            SELECT jsonb_build_object('Renewals', pawl.answer_names(pawl.checkpoints_renew(
                       p_instance, array_agg(e.x ->> 'StreamId' ORDER BY e.n), array_agg(e.x ->> 'PerspectiveName' ORDER BY e.n),
                       array_agg((e.x ->> 'Token')::bigint ORDER BY e.n), p_lease_ms)))
              FROM jsonb_array_elements(p_renewals) WITH ORDINALITY AS e(x, n));
    END IF;
    FOR v_part IN SELECT * FROM (VALUES ('Completions', p_completions, 2), ('Failures', p_failures, 3), ('Releases', p_releases, 0))
                                AS v(name, list, status) LOOP
        CONTINUE WHEN jsonb_array_length(coalesce(v_part.list, '[]')) = 0;
        v_result := v_result || (
            SELECT jsonb_build_object(v_part.name, pawl.answer_names(pawl.checkpoints_report(
                       p_instance, array_agg(e.x ->> 'StreamId' ORDER BY e.n), array_agg(e.x ->> 'PerspectiveName' ORDER BY e.n),
                       array_agg((e.x ->> 'Version')::bigint ORDER BY e.n), array_agg((e.x ->> 'Token')::bigint ORDER BY e.n),
                       array_agg(CASE WHEN v_part.status = 2 THEN coalesce((e.x ->> 'Status')::smallint, 2) ELSE v_part.status END::smallint
                                 ORDER BY e.n),
                       array_agg(e.x ->> 'Error' ORDER BY e.n), array_agg((e.x ->> 'DelayMs')::bigint ORDER BY e.n))))
              FROM jsonb_array_elements(v_part.list) WITH ORDINALITY AS e(x, n));
    END LOOP;
    RETURN v_result;
END
$$;
