-- checkpoints_report: how far perspectives have come in their streams; forward only, by token.
-- params: one array member per report: p_streams, p_perspectives, p_versions, p_tokens, p_statuses (0 pending, 1 processing,
--         2 completed, 3 failed), p_errors
-- returns: one answer per report: 1 applied, 2 duplicate, 3 stale
-- tables: checkpoint
-- locks: the checkpoint rows, in the order of the call
CREATE OR REPLACE FUNCTION pawl.checkpoints_report(
    p_streams text[], p_perspectives text[], p_versions bigint[], p_tokens bigint[], p_statuses smallint[],
    p_errors text[]) RETURNS smallint[]
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
    FOR v_report IN SELECT u.* FROM unnest(p_streams, p_perspectives, p_versions, p_tokens, p_statuses, p_errors)
                                    WITH ORDINALITY AS u(stream, perspective, version, token, status, error, n)
                     ORDER BY u.n LOOP
        INSERT INTO pawl.checkpoint (stream, perspective, updated_ms)
        VALUES (v_report.stream, v_report.perspective, v_now) ON CONFLICT (stream, perspective) DO NOTHING;
        SELECT c.version, c.token, c.status INTO v_row FROM pawl.checkpoint c
         WHERE c.stream = v_report.stream AND c.perspective = v_report.perspective FOR UPDATE;
        v_answer := CASE
            WHEN v_report.token < v_row.token OR v_report.version < v_row.version THEN 3
            WHEN v_report.token = v_row.token AND v_report.version = v_row.version AND v_report.status = v_row.status
                 AND v_report.status <> 3 THEN 2
            ELSE 1 END;
        IF v_answer = 1 THEN
            UPDATE pawl.checkpoint c
               SET version = v_report.version, token = v_report.token, status = v_report.status, updated_ms = v_now,
                   error = CASE WHEN v_report.status = 3 THEN pawl.text_cut(v_report.error, 4096) END,
                   attempts = CASE v_report.status WHEN 3 THEN c.attempts + 1 WHEN 2 THEN 0 ELSE c.attempts END
             WHERE c.stream = v_report.stream AND c.perspective = v_report.perspective;
        END IF;
        v_answers := v_answers || v_answer;
    END LOOP;
    RETURN v_answers;
END
$$;
