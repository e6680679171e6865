-- checkpoints_report: how far perspectives have come in their streams; forward only, by token.
-- params: one array member per report: p_streams, p_perspectives, p_versions, p_tokens, p_statuses (0 pending, 1 processing,
--         2 completed, 3 failed), p_errors; p_delays: milliseconds to the next attempt of a
--         failed one (NULL or 0: the backoff)
-- returns: one answer per report: 1 applied, 2 duplicate, 3 stale, 4 conflict: the stream has no such version yet
-- tables: checkpoint, perspective (read), those of checkpoint_end
-- locks: the checkpoint rows, in the order of the call
CREATE OR REPLACE FUNCTION pawl.checkpoints_report(
    p_streams text[], p_perspectives text[], p_versions bigint[], p_tokens bigint[], p_statuses smallint[],
    p_errors text[], p_delays bigint[] DEFAULT NULL) RETURNS smallint[]
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_answers smallint[] := '{}';
    v_now bigint := pawl.now_ms();
    v_report record;
    v_row record;
    v_answer smallint;
BEGIN
    FOR v_report IN SELECT u.* FROM unnest(p_streams, p_perspectives, p_versions, p_tokens, p_statuses, p_errors, p_delays)
                                    WITH ORDINALITY AS u(stream, perspective, version, token, status, error, delay_ms, n)
                     ORDER BY u.n LOOP
        INSERT INTO pawl.checkpoint (stream, perspective, due_ms, created_ms, updated_ms)
        VALUES (v_report.stream, v_report.perspective, v_now, v_now, v_now) ON CONFLICT (stream, perspective) DO NOTHING;
        SELECT c.version, c.token, c.status,
               coalesce((SELECT s.version FROM pawl.stream s WHERE s.stream = c.stream), 0) AS head,
               EXISTS (SELECT 1 FROM pawl.perspective p WHERE p.key = c.perspective AND p.state = 4) AS removed
          INTO v_row FROM pawl.checkpoint c
         WHERE c.stream = v_report.stream AND c.perspective = v_report.perspective FOR UPDATE OF c;
        v_answer := CASE
            WHEN v_row.removed OR v_report.token < v_row.token OR v_report.version < v_row.version THEN 3
            WHEN v_report.token = v_row.token AND v_report.version = v_row.version AND v_report.status = v_row.status
                 AND v_report.status <> 3 THEN 2
            WHEN v_report.token = v_row.token AND v_report.token > 0 AND v_report.version = v_row.version AND v_report.status = 2
                 AND v_row.status = 0 AND v_row.head > v_row.version THEN 2 -- stored as pending, because more had come
            WHEN v_row.head BETWEEN 1 AND v_report.version - 1 THEN 4
            ELSE 1 END;
        IF v_answer = 1 THEN
            PERFORM pawl.checkpoint_end(v_report.stream, v_report.perspective, v_report.version, v_report.token, v_report.status,
                                        v_report.error, 0, coalesce(v_report.delay_ms, 0), v_now);
        END IF;
        v_answers := v_answers || v_answer;
    END LOOP;
    RETURN v_answers;
END
$$;
