-- checkpoints_recover: what an instance held that is evicted or has left is free.
-- params: p_instance uuid: NULL: every one that is evicted, for what was locked when it was; p_now bigint
-- returns: nothing
-- tables: instance (read), checkpoint (updated)
-- locks: the checkpoints (skip locked)
CREATE OR REPLACE FUNCTION pawl.checkpoints_recover(p_instance uuid, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_gone uuid[] := CASE WHEN p_instance IS NULL THEN ARRAY(SELECT i.id FROM pawl.instance i WHERE i.state = 2) ELSE ARRAY[p_instance] END;
BEGIN
    IF v_gone <> '{}' THEN
        UPDATE pawl.checkpoint c SET status = 0, instance = NULL, lease_until_ms = 0, due_ms = p_now, updated_ms = p_now
         WHERE (c.stream, c.perspective) IN (SELECT o.stream, o.perspective FROM pawl.checkpoint o
                                              WHERE o.instance = ANY (v_gone) FOR UPDATE SKIP LOCKED);
    END IF;
END
$$;
