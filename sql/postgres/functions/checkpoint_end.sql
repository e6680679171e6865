-- checkpoint_end: moves one checkpoint, as a report or an apply says; the row is locked and the caller has compared the token.
-- params: p_stream, p_key, p_version: applied through, p_token, p_status 0 pending, 1 processing, 2 completed, 3 failed; p_error,
--         p_failed_version (0: not known), p_delay_ms (0: the backoff) for a failure; p_now
-- returns: 0; for a failure 1 another attempt, 2 it has stopped
-- tables: checkpoint (updated), stream, event, mapping, perspective, settings (read), skip, perspective_tally (inserted)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.checkpoint_end(
    p_stream text, p_key text, p_version bigint, p_token bigint, p_status smallint, p_error text, p_failed_version bigint,
    p_delay_ms bigint, p_now bigint) RETURNS smallint
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_row record;
    v_how record;
    v_applied bigint := 0;
    v_status smallint := p_status;
    v_failed bigint := p_failed_version;
    v_stopped boolean := false;
    v_due bigint;
BEGIN
    SELECT c.version, c.attempts, c.instance, c.lease_until_ms INTO v_row FROM pawl.checkpoint c
     WHERE c.stream = p_stream AND c.perspective = p_key;
    IF p_version > v_row.version THEN
        SELECT count(*) INTO v_applied FROM pawl.event e
         WHERE e.stream = p_stream AND e.version > v_row.version AND e.version <= p_version
           AND EXISTS (SELECT 1 FROM pawl.mapping m WHERE m.type = e.type AND m.key = p_key);
        IF v_applied > 0 THEN
            INSERT INTO pawl.perspective_tally (key, applied) VALUES (p_key, v_applied);
        END IF;
    END IF;
    IF p_status = 3 THEN
        SELECT p.max_attempts, p.policy INTO v_how FROM pawl.perspective p WHERE p.key = p_key;
        IF NOT FOUND THEN
            SELECT s.max_attempts, 1::smallint AS policy INTO v_how FROM pawl.settings s;
        END IF;
        v_stopped := v_row.attempts + 1 >= v_how.max_attempts;
        IF v_failed = 0 THEN
            SELECT min(e.version) INTO v_failed FROM pawl.event e
             WHERE e.stream = p_stream AND e.version > p_version
               AND EXISTS (SELECT 1 FROM pawl.mapping m WHERE m.type = e.type AND m.key = p_key)
               AND NOT EXISTS (SELECT 1 FROM pawl.skip k WHERE k.key = p_key AND k.stream = p_stream AND k.version = e.version);
            v_failed := coalesce(v_failed, 0);
        END IF;
        IF v_stopped AND v_how.policy = 2 AND v_failed > 0 THEN
            INSERT INTO pawl.skip (key, stream, version, reason, skipped_ms)
            VALUES (p_key, p_stream, v_failed, pawl.text_cut(coalesce(p_error, ''), 4096), p_now) ON CONFLICT DO NOTHING;
            v_status := 0;
            v_stopped := false;
            v_due := p_now;
            v_failed := 0;
        ELSIF NOT v_stopped THEN
            v_due := p_now + CASE WHEN p_delay_ms > 0 THEN p_delay_ms ELSE pawl.retry_wait_ms(v_row.attempts + 1) END;
        END IF;
    ELSIF p_status = 2 THEN
        IF p_version < coalesce((SELECT s.version FROM pawl.stream s WHERE s.stream = p_stream), 0) THEN
            v_status := 0; -- more has come meanwhile
            v_due := p_now;
        END IF;
    ELSIF p_status = 1 THEN
        v_due := v_row.lease_until_ms;
    ELSE
        v_due := p_now;
    END IF;
    UPDATE pawl.checkpoint c
       SET version = p_version, token = p_token, status = v_status, updated_ms = p_now, due_ms = v_due, stopped = v_stopped,
           instance = CASE WHEN v_status = 1 THEN c.instance END,
           lease_until_ms = CASE WHEN v_status = 1 THEN c.lease_until_ms ELSE 0 END,
           error = CASE WHEN v_status = 3 THEN pawl.text_cut(p_error, 4096) END,
           fingerprint = CASE WHEN v_status = 3 THEN pawl.fingerprint(p_error) END,
           failed_version = CASE WHEN v_status = 3 THEN v_failed ELSE 0 END,
           attempts = CASE WHEN v_status = 3 THEN c.attempts + 1 WHEN p_status IN (2, 3) THEN 0 ELSE c.attempts END
     WHERE c.stream = p_stream AND c.perspective = p_key;
    RETURN CASE WHEN p_status <> 3 THEN 0 WHEN v_stopped THEN 2 ELSE 1 END;
END
$$;
