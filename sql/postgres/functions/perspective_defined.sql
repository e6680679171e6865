-- perspective_defined: the perspectives that are not removed and how they are defined; the columns of perspective_list, counts 0.
-- returns: one row each, by name and version; patterns: a line each, its mode, a blank, its text
-- tables: perspective, pattern (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.perspective_defined() RETURNS TABLE (
    key text, name text, version integer, state smallint, paused boolean, backfilled boolean, patterns text,
    run smallint, target text, clear text, batch integer, max_attempts integer, policy smallint, registered_ms bigint,
    checkpoints bigint, pending bigint, processing bigint, completed bigint, failed bigint, stopped bigint, matched bigint,
    applied bigint, lag_ms bigint, "position" bigint, lag_whole boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT p.key, p.name, p.version, p.state, p.paused, p.backfilled,
           (SELECT string_agg(t.mode || ' ' || t.text, E'\n' ORDER BY t.n) FROM pawl.pattern t WHERE t.key = p.key),
           p.run, p.target, p.clear, p.batch, p.max_attempts, p.policy, p.registered_ms,
           0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint, true
      FROM pawl.perspective p WHERE p.state <> 4 ORDER BY p.name, p.version;
END
$$;
