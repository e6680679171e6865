-- checkpoints_recover: what evicted instances held is free.
-- params: p_now bigint
-- returns: nothing
-- tables: instance (read), checkpoint (updated)
-- locks: the checkpoints (skip locked)
CREATE OR REPLACE FUNCTION pawl.checkpoints_recover(p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_evicted uuid[] := ARRAY(SELECT i.id FROM pawl.instance i WHERE i.state = 2);
BEGIN
    IF v_evicted <> '{}' THEN
        UPDATE pawl.checkpoint c SET status = 0, instance = NULL, lease_until_ms = 0, due_ms = p_now, updated_ms = p_now
         WHERE (c.stream, c.perspective) IN (SELECT o.stream, o.perspective FROM pawl.checkpoint o
                                              WHERE o.instance = ANY (v_evicted) FOR UPDATE SKIP LOCKED);
    END IF;
END
$$;
