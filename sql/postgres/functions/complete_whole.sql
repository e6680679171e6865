-- complete_whole: ends the claims of waiting messages of which a call names all items, with no work per stream.
-- params: p_instance, p_kind, p_tokens bigint[] and p_ids uuid[] (one per item), p_one boolean: all of one
--         token, p_keep boolean: write the history, p_now
-- returns: the tokens that ended; the careful way must decide about the others
-- tables: claim (updated), message (deleted), history
-- locks: none of its own: the caller holds the claim parts
CREATE OR REPLACE FUNCTION pawl.complete_whole(
    p_instance uuid, p_kind smallint, p_tokens bigint[], p_ids uuid[], p_one boolean, p_keep boolean, p_now bigint) RETURNS bigint[]
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_claim record;
    v_ids uuid[];
    v_ended bigint[] := '{}';
BEGIN
    BEGIN
        -- The fence (OFFSET 0) keeps this on the
        -- primary key: a partial index looks smaller to the planner, and holds the dead entries of every claim there was.
        -- An intact part is the only one of its token.
        FOR v_claim IN
            SELECT g.token, g.ids, c.lane, c.seqs[1] AS low, c.seqs[cardinality(c.seqs)] AS high
              FROM (SELECT p_tokens[1] AS token, p_ids AS ids WHERE p_one
                     UNION ALL
                    SELECT u.token, array_agg(u.id) AS ids
                      FROM unnest(p_tokens, p_ids) AS u(token, id) WHERE NOT p_one GROUP BY u.token) g
             CROSS JOIN LATERAL (SELECT x.* FROM pawl.claim x WHERE x.token = g.token AND x.part = 1 OFFSET 0) c
             WHERE c.instance = p_instance AND c.kind = p_kind AND c.state = 1 AND c.source = 1 AND c.intact
               AND c.done_ids = '{}' AND cardinality(c.seqs) = cardinality(g.ids)
             ORDER BY g.token LOOP
            -- All items of the claim lie between its first and its last: the rows there are exactly them.
            IF p_keep THEN
                WITH gone AS (
                    DELETE FROM pawl.message m
                     WHERE m.kind = p_kind AND m.lane = v_claim.lane AND m.seq >= v_claim.low AND m.seq <= v_claim.high
                    RETURNING m.*),
                kept AS (
                    INSERT INTO pawl.history (seq, kind, lane, partition, id, stream, topic, type, payload, headers,
                                              correlation_id, causation_id, traceparent, consumer, put_ms, attempts,
                                              deaths, ended_ms)
                    SELECT g.seq, g.kind, g.lane, g.partition, g.id, g.stream, g.topic, g.type, g.payload, g.headers,
                           g.correlation_id, g.causation_id, g.traceparent, g.consumer, g.put_ms, 0, 0, p_now FROM gone g)
                SELECT array_agg(g.id) INTO v_ids FROM gone g;
            ELSE
                WITH gone AS (
                    DELETE FROM pawl.message m
                     WHERE m.kind = p_kind AND m.lane = v_claim.lane AND m.seq >= v_claim.low AND m.seq <= v_claim.high
                    RETURNING m.id)
                SELECT array_agg(g.id) INTO v_ids FROM gone g;
            END IF;
            -- Handlers that run side by side do not end in the order of the grant.
            IF v_ids IS DISTINCT FROM v_claim.ids
               AND (SELECT array_agg(u.id ORDER BY u.id) FROM unnest(v_ids) AS u(id))
                   IS DISTINCT FROM (SELECT array_agg(u.id ORDER BY u.id) FROM unnest(v_claim.ids) AS u(id)) THEN
                RAISE EXCEPTION USING ERRCODE = 'PW900', MESSAGE = 'not these items';
            END IF;
            v_ended := v_ended || v_claim.token;
        END LOOP;
    EXCEPTION WHEN SQLSTATE 'PW900' THEN
        RETURN '{}';
    END;
    UPDATE pawl.claim c SET state = 2, seqs = NULL, done_ids = NULL WHERE c.token = ANY (v_ended) AND c.part = 1;
    RETURN v_ended;
END
$$;
