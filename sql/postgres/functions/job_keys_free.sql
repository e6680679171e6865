-- job_keys_free: leases of these keys have ended.
-- params: p_keys text[]: one member per lease
-- returns: nothing
-- tables: job_key (updated)
-- locks: the row of job_fair, then the keys
CREATE OR REPLACE FUNCTION pawl.job_keys_free(p_keys text[]) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF cardinality(p_keys) > 0 THEN
        PERFORM 1 FROM pawl.job_fair FOR UPDATE;
        UPDATE pawl.job_key k SET running = k.running - g.leases
          FROM (SELECT u.key, count(*)::integer AS leases FROM unnest(p_keys) AS u(key) GROUP BY u.key) g
         WHERE k.key = g.key;
    END IF;
END
$$;
