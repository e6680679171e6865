-- snapshot_put: keeps a folded state of a stream; the last two are kept.
-- params: p_stream, p_name, p_version, p_state json
-- returns: answer 1 applied, 3 stale: there is a newer or equal one, 4 conflict: the stream has no such version
-- tables: snapshot, stream (read)
-- locks: the snapshots of the pair
CREATE OR REPLACE FUNCTION pawl.snapshot_put(p_stream text, p_name text, p_version bigint, p_state json) RETURNS smallint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
BEGIN
    IF p_version > coalesce((SELECT s.version FROM pawl.stream s WHERE s.stream = p_stream), 0) THEN
        RETURN 4;
    END IF;
    IF EXISTS (SELECT 1 FROM pawl.snapshot n WHERE n.stream = p_stream AND n.name = p_name AND n.version >= p_version) THEN
        RETURN 3;
    END IF;
    INSERT INTO pawl.snapshot (stream, name, version, state, made_ms) VALUES (p_stream, p_name, p_version, p_state, v_now)
        ON CONFLICT DO NOTHING;
    DELETE FROM pawl.snapshot n
     WHERE n.stream = p_stream AND n.name = p_name
       AND n.version < (SELECT min(k.version) FROM (SELECT l.version FROM pawl.snapshot l WHERE l.stream = p_stream AND l.name = p_name
                                                     ORDER BY l.version DESC LIMIT 2) k);
    RETURN 1;
END
$$;
