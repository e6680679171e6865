-- job_limits_of: the limits in force for a key: its own, else those of its prefix, else none.
-- params: p_key text
-- returns: concurrency (0: none), rate (0: none), rate_ms, weight
-- tables: job_limit (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.job_limits_of(
    p_key text, OUT concurrency integer, OUT rate integer, OUT rate_ms bigint, OUT weight integer)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    SELECT l.concurrency, l.rate, l.rate_ms, l.weight INTO concurrency, rate, rate_ms, weight
      FROM pawl.job_limit l WHERE l.key = p_key;
    IF NOT FOUND AND position(':' IN p_key) > 0 THEN
        SELECT l.concurrency, l.rate, l.rate_ms, l.weight INTO concurrency, rate, rate_ms, weight
          FROM pawl.job_limit l WHERE l.key = split_part(p_key, ':', 1) || ':*';
    END IF;
    concurrency := coalesce(concurrency, 0);
    rate := coalesce(rate, 0);
    rate_ms := coalesce(rate_ms, 0);
    weight := coalesce(weight, 1);
END
$$;
