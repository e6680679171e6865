-- job_limit_set: sets the limits of a key, or of each key with a prefix ("tenant:*").
-- params: p_key text, p_concurrency integer (0: none), p_rate integer (0: none), p_rate_ms bigint, p_weight integer; no limit and
--         weight 1 remove the row
-- returns: nothing
-- tables: job_limit
-- locks: its row
CREATE OR REPLACE FUNCTION pawl.job_limit_set(
    p_key text, p_concurrency integer, p_rate integer, p_rate_ms bigint, p_weight integer) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_concurrency = 0 AND p_rate = 0 AND p_weight = 1 THEN
        DELETE FROM pawl.job_limit l WHERE l.key = p_key;
    ELSE
        INSERT INTO pawl.job_limit (key, concurrency, rate, rate_ms, weight)
        VALUES (p_key, p_concurrency, p_rate, p_rate_ms, p_weight)
        ON CONFLICT (key) DO UPDATE SET concurrency = excluded.concurrency, rate = excluded.rate, rate_ms = excluded.rate_ms,
                                        weight = excluded.weight;
    END IF;
END
$$;
