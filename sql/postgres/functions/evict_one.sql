-- evict_one: ends an instance: its lanes are free at once and its claims end as evicted.
-- params: p_id uuid (its row is locked by the caller), p_now bigint
-- returns: nothing
-- tables: instance, lane (updated), those of claim_end
-- locks: its lanes, then its claims
CREATE OR REPLACE FUNCTION pawl.evict_one(p_id uuid, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE pawl.instance i SET state = 2, evicted_ms = p_now WHERE i.id = p_id;
    PERFORM pawl.instance_end(p_id, 4::smallint, p_now);
END
$$;
