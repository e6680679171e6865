-- advance_due: the checkpoints of one perspective that are due, as many as one batch has room for.
-- params: p_key, p_batch, p_now
-- returns: per stream: version, head of the stream, replay_to; locked. Those that are not behind are completed instead
-- tables: stream (read), checkpoint (updated)
-- locks: the checkpoints looked at (skip locked), some more than are returned
CREATE OR REPLACE FUNCTION pawl.advance_due(
    p_key text, p_batch integer, p_now bigint, OUT streams text[], OUT froms bigint[], OUT heads bigint[], OUT replays bigint[])
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_row record;
    v_idle text[] := '{}';
    v_waiting bigint := 0;
BEGIN
    streams := '{}';
    froms := '{}';
    heads := '{}';
    replays := '{}';
    FOR v_row IN SELECT c.stream, c.version, c.replay_to, coalesce(s.version, 0) AS head
                   FROM pawl.checkpoint c LEFT JOIN pawl.stream s ON s.stream = c.stream
                  WHERE c.perspective = p_key AND c.due_ms <= p_now ORDER BY c.due_ms, c.stream LIMIT p_batch
                    FOR UPDATE OF c SKIP LOCKED LOOP
        IF v_row.head <= v_row.version THEN
            v_idle := v_idle || v_row.stream;
            CONTINUE;
        END IF;
        streams := streams || v_row.stream;
        froms := froms || v_row.version;
        heads := heads || v_row.head;
        replays := replays || v_row.replay_to;
        v_waiting := v_waiting + v_row.head - v_row.version;
        EXIT WHEN v_waiting >= p_batch;
    END LOOP;
    IF v_idle <> '{}' THEN
        UPDATE pawl.checkpoint c
           SET status = 2, due_ms = NULL, instance = NULL, lease_until_ms = 0, attempts = 0, error = NULL, fingerprint = NULL,
               failed_version = 0, stopped = false, updated_ms = p_now
         WHERE c.stream = ANY (v_idle) AND c.perspective = p_key;
    END IF;
END
$$;
