-- complete_whole: ends a claim of waiting messages when a call names all of its items, with no work per stream.
-- params: p_instance, p_kind, p_token, p_ids uuid[], p_keep boolean: write the history, p_now
-- returns: true when all were applied; false when nothing was done and the careful way must decide
-- tables: claim (updated), message (deleted), history, tally
-- locks: the claim part
CREATE OR REPLACE FUNCTION pawl.complete_whole(
    p_instance uuid, p_kind smallint, p_token bigint, p_ids uuid[], p_keep boolean, p_now bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_count integer := cardinality(p_ids);
    v_lane integer;
    v_first bigint;
    v_last bigint;
    v_ids uuid[];
BEGIN
    -- An intact part is the only one of its token.
    SELECT c.lane, c.seqs[1], c.seqs[v_count] INTO v_lane, v_first, v_last
      FROM pawl.claim c
     WHERE c.token = p_token AND c.part = 1 AND c.instance = p_instance AND c.kind = p_kind AND c.state = 1
       AND c.source = 1 AND c.intact AND c.done_ids = '{}' AND cardinality(c.seqs) = v_count
       FOR UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    BEGIN
        -- All items of the claim lie between its first and its last: so many rows there are exactly them.
        IF p_keep THEN
            WITH gone AS (
                DELETE FROM pawl.message m
                 WHERE m.kind = p_kind AND m.lane = v_lane AND m.seq >= v_first AND m.seq <= v_last RETURNING m.*),
            kept AS (
                INSERT INTO pawl.history (seq, kind, lane, partition, id, stream, topic, type, payload, headers,
                                          correlation_id, causation_id, traceparent, consumer, put_ms, attempts, deaths,
                                          ended_ms)
                SELECT g.seq, g.kind, g.lane, g.partition, g.id, g.stream, g.topic, g.type, g.payload, g.headers,
                       g.correlation_id, g.causation_id, g.traceparent, g.consumer, g.put_ms, 0, 0, p_now FROM gone g)
            SELECT array_agg(g.id) INTO v_ids FROM gone g;
        ELSE
            WITH gone AS (
                DELETE FROM pawl.message m
                 WHERE m.kind = p_kind AND m.lane = v_lane AND m.seq >= v_first AND m.seq <= v_last RETURNING m.id)
            SELECT array_agg(g.id) INTO v_ids FROM gone g;
        END IF;
        IF v_ids IS DISTINCT FROM p_ids
           AND (SELECT array_agg(u.id ORDER BY u.id) FROM unnest(v_ids) AS u(id))
               IS DISTINCT FROM (SELECT array_agg(u.id ORDER BY u.id) FROM unnest(p_ids) AS u(id)) THEN
            RAISE EXCEPTION USING ERRCODE = 'PW900', MESSAGE = 'not the whole claim';
        END IF;
    EXCEPTION WHEN SQLSTATE 'PW900' THEN
        RETURN false;
    END;
    UPDATE pawl.claim c SET state = 2, seqs = NULL, done_ids = NULL WHERE c.token = p_token AND c.part = 1;
    INSERT INTO pawl.tally (kind, done) VALUES (p_kind, v_count);
    RETURN true;
END
$$;
