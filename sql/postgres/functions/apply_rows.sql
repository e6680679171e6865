-- apply_rows: the events of a batch, as apply_begin has cut it.
-- params: p_key text; p_streams, p_froms, p_throughs, p_replays: per stream, versions above from and up to through
-- returns: rows by stream in the order of the call, then version
-- tables: event, mapping, skip (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.apply_rows(p_key text, p_streams text[], p_froms bigint[], p_throughs bigint[], p_replays bigint[]) RETURNS TABLE (
    n integer, stream text, version bigint, id uuid, type text, payload json, metadata json, correlation_id uuid,
    causation_id uuid, traceparent text, appended_ms bigint, replay boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 100
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT u.n::integer, e.stream, e.version, e.id, e.type, e.payload, e.metadata, e.correlation_id, e.causation_id, e.traceparent,
           e.appended_ms, e.version <= u.replay_to
      FROM unnest(p_streams, p_froms, p_throughs, p_replays) WITH ORDINALITY AS u(stream, from_version, through_version, replay_to, n)
      JOIN pawl.event e ON e.stream = u.stream AND e.version > u.from_version AND e.version <= u.through_version
     WHERE EXISTS (SELECT 1 FROM pawl.mapping m WHERE m.type = e.type AND m.key = p_key)
       AND NOT EXISTS (SELECT 1 FROM pawl.skip k WHERE k.key = p_key AND k.stream = e.stream AND k.version = e.version)
     ORDER BY u.n, e.version;
END
$$;
