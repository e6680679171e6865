-- checkpoints_report: how far perspectives have come in their streams; forward only, and only under the grant that holds.
-- params: p_instance: to whom they were granted; one array member per report: p_streams, p_perspectives, p_versions, p_tokens
--         (that of the grant), p_statuses (0 pending: given back, 1 processing, 2 completed, 3 failed), p_errors; p_delays:
--         milliseconds to the next attempt of a failed one (NULL or 0: the backoff)
-- returns: one answer per report: 1 applied, 2 duplicate, 3 stale: it is not granted to the instance under that token, or
--          that is evicted, 4 conflict: the stream has no such version yet, 6 not found: there is no such checkpoint
-- raises: PW001 a report without stream, perspective, version or status
-- tables: checkpoint, perspective, instance (read), those of checkpoint_end
-- locks: the checkpoint rows, in the order of the call
CREATE OR REPLACE FUNCTION pawl.checkpoints_report(
    p_instance uuid, p_streams text[], p_perspectives text[], p_versions bigint[], p_tokens bigint[], p_statuses smallint[],
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
        IF v_report.stream IS NULL OR v_report.perspective IS NULL
           OR (v_report.version >= 0 AND v_report.status BETWEEN 0 AND 3 AND coalesce(v_report.delay_ms, 0) >= 0) IS NOT TRUE THEN
            RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format(
                'checkpoint report %s names a stream, a perspective, the version applied through, and a status 0 to 3', v_report.n);
        END IF;
        SELECT c.version, c.token, c.status,
               (c.status = 1 AND c.token = v_report.token AND c.instance = p_instance
                AND EXISTS (SELECT 1 FROM pawl.instance i WHERE i.id = p_instance AND i.state = 1)) IS TRUE AS held,
               coalesce((SELECT s.version FROM pawl.stream s WHERE s.stream = c.stream), 0) AS head,
               EXISTS (SELECT 1 FROM pawl.perspective p WHERE p.key = c.perspective AND p.state = 4) AS removed
          INTO v_row FROM pawl.checkpoint c
         WHERE c.stream = v_report.stream AND c.perspective = v_report.perspective FOR UPDATE OF c;
        v_answer := CASE
            WHEN NOT FOUND THEN 6
            WHEN v_row.removed THEN 3
            WHEN v_row.held AND v_report.version < v_row.version THEN 3
            WHEN v_row.held AND v_report.version > v_row.head THEN 4
            WHEN v_row.held AND v_report.version = v_row.version AND v_report.status = 1 THEN 2
            WHEN v_row.held THEN 1
            WHEN v_report.token = v_row.token AND v_report.token > 0 AND v_report.version = v_row.version AND v_report.status <> 1
                 AND (v_report.status = v_row.status
                      OR (v_report.status = 2 AND v_row.status = 0 AND v_row.head > v_row.version)) THEN 2 -- more had come: pending
            ELSE 3 END;
        IF v_answer = 1 THEN
            PERFORM pawl.checkpoint_end(v_report.stream, v_report.perspective, v_report.version, v_report.token, v_report.status,
                                        v_report.error, 0, coalesce(v_report.delay_ms, 0), v_now);
        END IF;
        v_answers := v_answers || v_answer;
    END LOOP;
    RETURN v_answers;
END
$$;
