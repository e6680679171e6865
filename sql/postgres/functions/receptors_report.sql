-- receptors_report: how far the receptors of events have come.
-- params: one array member per report: p_event_ids, p_receptors, p_statuses (bits), p_errors (NULL: it is a completion)
-- returns: one answer per report: 1 applied, 2 duplicate (it was completed before)
-- tables: receptor
-- locks: the receptor rows, in the order of the call
CREATE OR REPLACE FUNCTION pawl.receptors_report(
    p_event_ids uuid[], p_receptors text[], p_statuses integer[], p_errors text[]) RETURNS smallint[]
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_answers smallint[] := '{}';
    v_now bigint := pawl.now_ms();
    v_report record;
BEGIN
    FOR v_report IN SELECT u.event_id, u.receptor, pawl.text_cut(u.error, 4096) AS error,
                           CASE WHEN u.error IS NULL THEN u.status ELSE u.status | 8 END AS status
                      FROM unnest(p_event_ids, p_receptors, p_statuses, p_errors)
                           WITH ORDINALITY AS u(event_id, receptor, status, error, n) ORDER BY u.n LOOP
        INSERT INTO pawl.receptor AS r (event_id, receptor, status, error, attempts, updated_ms)
        VALUES (v_report.event_id, v_report.receptor, v_report.status, v_report.error, 1, v_now)
        ON CONFLICT (event_id, receptor) DO UPDATE
           SET status = EXCLUDED.status, error = EXCLUDED.error, attempts = r.attempts + 1, updated_ms = v_now
         WHERE r.status & 4 = 0;
        v_answers := v_answers || CASE WHEN FOUND THEN 1 ELSE 2 END::smallint;
    END LOOP;
    RETURN v_answers;
END
$$;
