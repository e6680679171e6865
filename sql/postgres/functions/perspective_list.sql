-- perspective_list: the perspectives, how they are defined and how far they are.
-- params: p_name text: NULL: all that are not removed, else every version of that name
-- returns: one row each, by name and version; patterns: a line each, its mode, a blank, its text
-- tables: perspective (position moved), pattern, perspective_tally, mapping, event_type (read), those of perspective_walk
-- locks: those of perspective_walk
CREATE OR REPLACE FUNCTION pawl.perspective_list(p_name text) RETURNS TABLE (
    key text, name text, version integer, state smallint, paused boolean, backfilled boolean, patterns text,
    run smallint, target text, clear text, batch integer, max_attempts integer, policy smallint, registered_ms bigint,
    checkpoints bigint, pending bigint, processing bigint, completed bigint, failed bigint, stopped bigint, matched bigint,
    applied bigint, lag_ms bigint, "position" bigint, lag_whole boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_now bigint := pawl.now_ms();
    v_look integer; -- of 2,000 events that one call looks at
BEGIN
    SELECT greatest(2000 / greatest(count(*), 1), 1) INTO v_look FROM pawl.perspective p
     WHERE p.state IN (1, 2) AND (p_name IS NULL OR p.name = p_name);
    RETURN QUERY
    SELECT p.key, p.name, p.version, p.state, p.paused, p.backfilled,
           (SELECT string_agg(t.mode || ' ' || t.text, E'\n' ORDER BY t.n) FROM pawl.pattern t WHERE t.key = p.key),
           p.run, p.target, p.clear, p.batch, p.max_attempts, p.policy, p.registered_ms,
           coalesce(y.checkpoints, 0)::bigint, coalesce(y.pending, 0)::bigint, coalesce(y.processing, 0)::bigint,
           coalesce(y.completed, 0)::bigint, coalesce(y.failed, 0)::bigint, coalesce(y.stopped, 0)::bigint,
           coalesce(k.matched, 0)::bigint, coalesce(y.applied, 0)::bigint,
           CASE WHEN w.waits_ms IS NULL THEN 0 ELSE greatest(0, v_now - w.waits_ms) END, coalesce(w.at, 0), coalesce(w.whole, true)
      FROM pawl.perspective p
      LEFT JOIN (SELECT t.key, sum(t.checkpoints) AS checkpoints, sum(t.pending) AS pending, sum(t.processing) AS processing,
                        sum(t.completed) AS completed, sum(t.failed) AS failed, sum(t.stopped) AS stopped, sum(t.applied) AS applied
                   FROM pawl.perspective_tally t GROUP BY t.key) y ON y.key = p.key
      LEFT JOIN LATERAL (SELECT sum(e.events) AS matched FROM pawl.event_type e
                          WHERE EXISTS (SELECT 1 FROM pawl.mapping m WHERE m.type = e.type AND m.key = p.key)) k ON true
      LEFT JOIN LATERAL pawl.perspective_walk(p.key, v_look, false) w ON p.state IN (1, 2)
     WHERE CASE WHEN p_name IS NULL THEN p.state <> 4 ELSE p.name = p_name END
     ORDER BY p.name, p.version;
END
$$;
