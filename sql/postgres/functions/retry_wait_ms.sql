-- retry_wait_ms: what to wait behind a failed attempt: 1 s, doubled each time, at most 60 s, of that 50 to 100 %.
-- params: p_attempt integer, counted from 1
-- returns: milliseconds, as domain/retry.h has them
-- tables: none
-- locks: none
CREATE OR REPLACE FUNCTION pawl.retry_wait_ms(p_attempt integer) RETURNS bigint
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ((d.delay + 1) / 2 + floor(random() * (d.delay - (d.delay + 1) / 2 + 1)))::bigint
      FROM (SELECT least(60000, 1000::bigint << least(greatest(p_attempt, 1) - 1, 16)) AS delay) d
$$;
