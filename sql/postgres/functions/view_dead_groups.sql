-- view_dead_groups: dead letters by cause, the biggest group first.
-- params: p_kind smallint, p_limit integer
-- returns: fingerprint, an error text of the group (of its first letter), how many, when first and last
-- tables: dead (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.view_dead_groups(p_kind smallint, p_limit integer) RETURNS TABLE (
    fingerprint text, sample_error text, letters bigint, first_ms bigint, last_ms bigint)
LANGUAGE sql VOLATILE SECURITY DEFINER ROWS 100
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
    SELECT g.fingerprint, (SELECT d.error FROM pawl.dead d WHERE d.kind = p_kind AND d.seq = g.first_seq), g.letters,
           g.first_ms, g.last_ms
      FROM (SELECT d.fingerprint, min(d.seq) AS first_seq, count(*) AS letters, min(d.died_ms) AS first_ms,
                   max(d.died_ms) AS last_ms
              FROM pawl.dead d WHERE d.kind = p_kind AND d.fingerprint IS NOT NULL GROUP BY d.fingerprint) g
     ORDER BY g.letters DESC, g.fingerprint COLLATE "C" LIMIT p_limit
$$;
