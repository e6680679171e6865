-- evict_one: ends an instance that is silent: its lanes are free at once and its claims end as evicted.
-- params: p_id uuid (its row is locked by the caller), p_now bigint
-- returns: whether it is evicted; false: a transaction holds something of it, which is left to a later call. It stays active
--          and silent until then
-- tables: instance, lane (updated), those of claim_end
-- locks: its lanes, then its claims (skip locked: a heartbeat waits for nobody)
CREATE OR REPLACE FUNCTION pawl.evict_one(p_id uuid, p_now bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '50ms'
AS $$
BEGIN
    IF NOT pawl.instance_end(p_id, 4::smallint, false, p_now) THEN
        RETURN false;
    END IF;
    UPDATE pawl.instance i SET state = 2, evicted_ms = p_now WHERE i.id = p_id;
    RETURN true;
END
$$;
