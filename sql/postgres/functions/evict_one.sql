-- evict_one: ends an instance that is silent, or takes what was left of one: its lanes are free and its claims end as evicted.
-- params: p_id uuid (its row is locked by the caller), p_now bigint
-- returns: whether it was active. What a transaction holds of it is left to a later call (leftovers), but it is evicted and
--          hears of it: it must not go on with a part of what it had
-- tables: instance, lane (updated), those of instance_end
-- locks: its lanes, then its claims (skip locked: a heartbeat waits for nobody; the caller has set a lock_timeout)
CREATE OR REPLACE FUNCTION pawl.evict_one(p_id uuid, p_now bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_all boolean := pawl.instance_end(p_id, 4::smallint, false, p_now);
BEGIN
    UPDATE pawl.instance i SET state = 2, evicted_ms = p_now, leftovers = NOT v_all WHERE i.id = p_id AND i.state = 1;
    IF FOUND THEN
        RETURN true;
    END IF;
    UPDATE pawl.instance i SET leftovers = false WHERE i.id = p_id AND v_all;
    RETURN false;
END
$$;
