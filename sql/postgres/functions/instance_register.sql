-- instance_register: a new instance, with its share of the lanes of its kinds.
-- params: p_id uuid …, p_kinds integer (bit set), p_lease_ms (0: the schema's), p_max_partitions (0: no cap),
--         p_partition_count (0: whatever the schema has), p_slots: how many messages it works on at once, in the order
--         of the grant (0: it does not say, and is taken to work on one)
-- returns: now_ms, lease_until_ms, epoch, lanes_owned
-- raises: PW001 another partition count; PW003 the id exists or was used before
-- tables: instance (inserted), tombstone (read), those of epoch_check, epoch_follow, evict_silent and rebalance
-- locks: those of epoch_check and epoch_follow, its instance row, then those of evict_silent and rebalance
CREATE OR REPLACE FUNCTION pawl.instance_register(
    p_id uuid, p_service text, p_host text, p_pid integer, p_metadata json, p_kinds integer, p_lease_ms bigint,
    p_max_partitions integer, p_partition_count integer, p_slots integer DEFAULT 0,
    OUT now_ms bigint, OUT lease_until_ms bigint, OUT epoch bigint, OUT lanes_owned integer)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_now bigint := pawl.now_ms();
    v_lease bigint;
    v_partitions integer;
BEGIN
    IF num_nulls(p_id, p_service, p_pid, p_kinds) > 0 THEN
        PERFORM pawl.refuse_null(ARRAY['p_id', 'p_service', 'p_pid', 'p_kinds'], ARRAY[p_id IS NULL, p_service IS NULL, p_pid IS NULL, p_kinds IS NULL]);
    END IF;
    PERFORM pawl.epoch_check();
    PERFORM pawl.epoch_follow(0);
    SELECT CASE WHEN coalesce(p_lease_ms, 0) = 0 THEN s.instance_lease_ms ELSE p_lease_ms END, s.partition_count
      INTO v_lease, v_partitions FROM pawl.settings s;
    IF coalesce(p_partition_count, 0) NOT IN (0, v_partitions) THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format(
            'partition_count is %s in this schema, not %s; it is fixed when the schema is made', v_partitions, p_partition_count);
    END IF;
    INSERT INTO pawl.instance (id, service, host, pid, metadata, kinds, max_partitions, slots, lease_ms, started_ms, beat_ms,
                               lease_until_ms)
    VALUES (p_id, p_service, p_host, p_pid, p_metadata, p_kinds, coalesce(p_max_partitions, 0), coalesce(p_slots, 0), v_lease,
            v_now, v_now, v_now + v_lease)
    ON CONFLICT (id) DO NOTHING;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW003', MESSAGE = format(
            'instance %s exists already; every start of a process needs a fresh id', p_id);
    END IF;
    -- After the insert: a row that was removed meanwhile has left its tombstone.
    IF EXISTS (SELECT 1 FROM pawl.tombstone t WHERE t.id = p_id) THEN
        RAISE EXCEPTION USING ERRCODE = 'PW003', MESSAGE = format(
            'instance %s is gone for good; every start of a process needs a fresh id', p_id);
    END IF;
    IF p_kinds & 14 <> 0 THEN
        PERFORM pawl.evict_silent(p_id, v_now);
    END IF;
    FOR v_kind IN 1 .. 3 LOOP
        IF (p_kinds >> v_kind) & 1 = 1 THEN
            PERFORM pawl.rebalance(p_id, v_kind::smallint, v_now);
        END IF;
    END LOOP;
    now_ms := v_now;
    lease_until_ms := v_now + v_lease;
    epoch := pawl.epoch_now();
    SELECT count(*) INTO lanes_owned FROM pawl.lane l WHERE l.kind IN (1, 2, 3) AND l.owner = p_id;
END
$$;
