-- reset_checkpoints: the checkpoints' part of perspective_reset.
-- params: p_key, p_mode smallint: 1 failed, 2 rebuild; p_streams text[]: NULL: all
-- returns: how many checkpoints
-- raises: PW002 there is no such perspective
-- tables: perspective (updated), checkpoint (updated), stream, event, mapping (read), perspective_tally (inserted)
-- locks: the checkpoints, in the order of their streams
CREATE OR REPLACE FUNCTION pawl.reset_checkpoints(p_key text, p_mode smallint, p_streams text[]) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
    v_token bigint;
    v_applied bigint;
    v_count bigint;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pawl.perspective p WHERE p.key = p_key AND p.state <> 4) THEN
        RAISE EXCEPTION USING ERRCODE = 'PW002', MESSAGE = format('perspective "%s" is not registered', p_key);
    END IF;
    IF p_mode = 1 THEN
        UPDATE pawl.checkpoint c
           SET status = 0, due_ms = v_now, stopped = false, attempts = 0, error = NULL, fingerprint = NULL, failed_version = 0,
               updated_ms = v_now
         WHERE c.perspective = p_key AND c.status = 3 AND (p_streams IS NULL OR c.stream = ANY (p_streams));
        GET DIAGNOSTICS v_count = ROW_COUNT;
        RETURN v_count;
    END IF;
    v_token := pawl.token_next();
    PERFORM 1 FROM pawl.checkpoint c WHERE c.perspective = p_key AND (p_streams IS NULL OR c.stream = ANY (p_streams))
     ORDER BY c.stream FOR UPDATE;
    SELECT count(*) INTO v_applied FROM pawl.checkpoint c JOIN pawl.event e ON e.stream = c.stream AND e.version <= c.version
     WHERE EXISTS (SELECT 1 FROM pawl.mapping m WHERE m.type = e.type AND m.key = p_key)
       AND c.perspective = p_key AND (p_streams IS NULL OR c.stream = ANY (p_streams));
    IF v_applied > 0 THEN
        INSERT INTO pawl.perspective_tally (key, applied) VALUES (p_key, -v_applied);
    END IF;
    UPDATE pawl.checkpoint c
       SET status = 0, version = 0, due_ms = v_now, stopped = false, attempts = 0, error = NULL, fingerprint = NULL,
           failed_version = 0, token = v_token, instance = NULL, lease_until_ms = 0, replay_to = s.version, updated_ms = v_now
      FROM pawl.stream s
     WHERE c.perspective = p_key AND s.stream = c.stream AND (p_streams IS NULL OR c.stream = ANY (p_streams));
    GET DIAGNOSTICS v_count = ROW_COUNT;
    UPDATE pawl.perspective p SET position = 0 WHERE p.key = p_key;
    RETURN v_count;
END
$$;
