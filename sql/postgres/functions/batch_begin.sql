-- batch_begin: the first step of a batch: registers an unknown instance, beats a known one whose beat is old, and makes
-- the request key known to the later steps.
-- params: as instance_register, and p_request uuid (NULL: none)
-- returns: now_ms, lease_until_ms
-- raises: PW004 the instance is evicted or gone; PW001 another partition count
-- tables: instance, request, those of heartbeat
-- locks: the request key, then those of heartbeat
CREATE OR REPLACE FUNCTION pawl.batch_begin(
    p_id uuid, p_service text, p_host text, p_pid integer, p_metadata json, p_kinds integer, p_lease_ms bigint,
    p_max_partitions integer, p_partition_count integer, p_request uuid, p_slots integer DEFAULT 0, OUT now_ms bigint, OUT lease_until_ms bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_now bigint;
    v_partitions integer;
    v_instance record;
BEGIN
    SELECT s.partition_count, CASE WHEN s.test_now_ms <> 0 THEN s.test_now_ms
                                   ELSE (extract(epoch FROM clock_timestamp()) * 1000)::bigint END
      INTO v_partitions, v_now FROM pawl.settings s;
    IF coalesce(p_partition_count, 0) NOT IN (0, v_partitions) THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format(
            'partition_count is %s in this schema, not %s; it is fixed when the schema is made', v_partitions, p_partition_count);
    END IF;
    -- First the key: a batch sent again waits here for its ghost, and then finds the instance that the ghost registered.
    IF p_request IS NOT NULL THEN
        INSERT INTO pawl.request (key, made_ms, batch_xid) VALUES (p_request, v_now, pg_current_xact_id())
        ON CONFLICT (key) DO NOTHING;
    END IF;
    SELECT i.state, i.beat_ms, i.lease_until_ms INTO v_instance FROM pawl.instance i WHERE i.id = p_id;
    IF (FOUND AND v_instance.state <> 1) OR EXISTS (SELECT 1 FROM pawl.tombstone t WHERE t.id = p_id) THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format('instance %s is evicted: drop everything and register anew', p_id);
    END IF;
    now_ms := v_now;
    IF v_instance.state IS NULL THEN
        SELECT r.lease_until_ms INTO lease_until_ms
          FROM pawl.instance_register(p_id, p_service, p_host, p_pid, p_metadata, p_kinds, p_lease_ms, p_max_partitions,
                                      p_partition_count, p_slots) r;
    ELSIF v_now - v_instance.beat_ms >= 1000 THEN
        SELECT h.lease_until_ms INTO lease_until_ms FROM pawl.heartbeat(p_id) h;
    ELSE
        lease_until_ms := v_instance.lease_until_ms;
    END IF;
END
$$;
