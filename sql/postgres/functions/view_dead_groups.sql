-- view_dead_groups: dead letters by cause, the biggest group first.
-- params: p_kind smallint, p_limit integer
-- returns: fingerprint, an error text of the group (of its first letter, and only for who may see payloads), how many, when first and last
-- tables: dead_tally, dead (read: three rows per group that is returned)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.view_dead_groups(p_kind smallint, p_limit integer) RETURNS TABLE (
    fingerprint text, sample_error text, letters bigint, first_ms bigint, last_ms bigint)
LANGUAGE sql VOLATILE SECURITY DEFINER ROWS 100
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
    SELECT g.fingerprint, CASE WHEN f.error IS NOT NULL AND pawl.payloads_shown() THEN f.error END, g.letters,
           (SELECT d.died_ms FROM pawl.dead d WHERE d.kind = p_kind AND d.fingerprint = g.fingerprint ORDER BY d.died_ms LIMIT 1),
           (SELECT d.died_ms FROM pawl.dead d WHERE d.kind = p_kind AND d.fingerprint = g.fingerprint ORDER BY d.died_ms DESC LIMIT 1)
      FROM (SELECT t.fingerprint, sum(t.letters)::bigint AS letters FROM pawl.dead_tally t WHERE t.kind = p_kind
             GROUP BY t.fingerprint HAVING sum(t.letters) > 0
             ORDER BY sum(t.letters) DESC, t.fingerprint COLLATE "C" LIMIT p_limit) g
     CROSS JOIN LATERAL (SELECT d.error FROM pawl.dead d WHERE d.kind = p_kind AND d.fingerprint = g.fingerprint
                          ORDER BY d.seq LIMIT 1) f
     ORDER BY g.letters DESC, g.fingerprint COLLATE "C"
$$;
