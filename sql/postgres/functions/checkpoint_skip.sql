-- checkpoint_skip: a perspective leaves one event out, for a reason that is kept.
-- params: p_key, p_stream, p_version, p_reason
-- returns: answer 1 applied, 2 duplicate, 4 conflict: it is applied already or not there, 6 not found: there is no such checkpoint
-- tables: skip (inserted), checkpoint (updated), event (read)
-- locks: the checkpoint
CREATE OR REPLACE FUNCTION pawl.checkpoint_skip(p_key text, p_stream text, p_version bigint, p_reason text) RETURNS smallint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
    v_row record;
BEGIN
    SELECT c.version, c.status INTO v_row FROM pawl.checkpoint c WHERE c.stream = p_stream AND c.perspective = p_key FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 6;
    END IF;
    IF EXISTS (SELECT 1 FROM pawl.skip k WHERE k.key = p_key AND k.stream = p_stream AND k.version = p_version) THEN
        RETURN 2;
    END IF;
    IF p_version <= v_row.version
       OR NOT EXISTS (SELECT 1 FROM pawl.event e WHERE e.stream = p_stream AND e.version = p_version) THEN
        RETURN 4;
    END IF;
    INSERT INTO pawl.skip (key, stream, version, reason, skipped_ms)
    VALUES (p_key, p_stream, p_version, pawl.text_cut(p_reason, 4096), v_now);
    IF v_row.status = 3 THEN
        UPDATE pawl.checkpoint c
           SET status = 0, due_ms = v_now, stopped = false, attempts = 0, error = NULL, fingerprint = NULL, failed_version = 0,
               updated_ms = v_now
         WHERE c.stream = p_stream AND c.perspective = p_key;
    END IF;
    RETURN 1;
END
$$;
