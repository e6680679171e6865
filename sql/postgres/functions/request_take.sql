-- request_take: uses an idempotency key; waits for a transaction that is using it right now.
-- params: p_key uuid, p_now bigint
-- returns: true when the key is new, or was made by the batch whose step this is; false when it was used before
-- tables: request (inserted)
-- locks: the key
CREATE OR REPLACE FUNCTION pawl.request_take(p_key uuid, p_now bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO pawl.request (key, made_ms) VALUES (p_key, p_now) ON CONFLICT (key) DO NOTHING;
    IF FOUND THEN
        RETURN true;
    END IF;
    RETURN EXISTS (SELECT 1 FROM pawl.request r WHERE r.key = p_key AND r.batch_xid = pg_current_xact_id());
END
$$;
