-- perspective_backfill: makes the checkpoints of streams that were there before the perspective, some at a time.
-- params: p_key text, p_streams_max integer
-- returns: true when it is over
-- raises: PW002 there is no such perspective
-- tables: perspective (updated), stream, event, mapping (read), checkpoint (inserted)
-- locks: the perspective's row
CREATE OR REPLACE FUNCTION pawl.perspective_backfill(p_key text, p_streams_max integer) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
    v_row record;
    v_part record;
    v_types text[];
BEGIN
    SELECT p.backfilled, p.backfill_after, p.state INTO v_row FROM pawl.perspective p WHERE p.key = p_key AND p.state <> 4 FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW002', MESSAGE = format('perspective "%s" is not registered', p_key);
    END IF;
    IF v_row.backfilled OR v_row.state = 3 THEN
        RETURN true;
    END IF;
    v_types := ARRAY(SELECT m.type FROM pawl.mapping m WHERE m.key = p_key);
    WITH part AS MATERIALIZED (
        SELECT s.stream, s.version FROM pawl.stream s WHERE s.stream > coalesce(v_row.backfill_after, '')
         ORDER BY s.stream LIMIT p_streams_max),
    made AS (
        INSERT INTO pawl.checkpoint (stream, perspective, due_ms, replay_to, created_ms, updated_ms)
        SELECT p.stream, p_key, v_now, p.version, v_now, v_now FROM part p
         WHERE EXISTS (SELECT 1 FROM pawl.event e WHERE e.stream = p.stream AND e.type = ANY (v_types))
         ORDER BY p.stream
            ON CONFLICT (stream, perspective) DO NOTHING)
    SELECT count(*) AS count, max(p.stream) AS last INTO v_part FROM part p;
    UPDATE pawl.perspective p SET backfill_after = coalesce(v_part.last, p.backfill_after), backfilled = v_part.count < p_streams_max
     WHERE p.key = p_key;
    RETURN v_part.count < p_streams_max;
END
$$;
