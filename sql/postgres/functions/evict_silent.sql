-- evict_silent: evicts every instance whose lease is over, except the caller, and takes what was left of evicted ones.
-- params: p_caller uuid (NULL: nobody), p_now bigint
-- returns: how many are newly evicted
-- tables: instance (updated), those of evict_one
-- locks: the silent instances (skip locked: one that is locked is beating right now), then those of evict_one
--        (50 ms for the first that a transaction holds, then 1 ms)
CREATE OR REPLACE FUNCTION pawl.evict_silent(p_caller uuid, p_now bigint) RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '50ms'
AS $$
DECLARE
    v_id uuid;
    v_count integer := 0;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pawl.instance i
                    WHERE (i.state = 1 AND i.lease_until_ms <= p_now OR i.leftovers) AND i.id IS DISTINCT FROM p_caller) THEN
        RETURN 0;
    END IF;
    FOR v_id IN SELECT i.id FROM pawl.instance i
                 WHERE (i.state = 1 AND i.lease_until_ms <= p_now OR i.leftovers) AND i.id IS DISTINCT FROM p_caller
                 ORDER BY i.id FOR UPDATE SKIP LOCKED LOOP
        v_count := v_count + pawl.evict_one(v_id, p_now)::integer;
    END LOOP;
    RETURN v_count;
END
$$;
