-- stream_behind: the later messages of a stream that are in flight under a token are set aside and leave their claims.
-- params: p_kind, p_lane, p_token, p_key: the stream (all items in flight of a stream are under one token), p_after bigint:
--         the seq they come behind, p_released boolean: reason released and due now (also when they were aside), else
--         reason behind and unchanged when they were aside; p_now
-- returns: how many rows came from message to aside
-- tables: message, aside, claim
-- locks: the parts of the token (held by the caller)
CREATE OR REPLACE FUNCTION pawl.stream_behind(
    p_kind smallint, p_lane integer, p_token bigint, p_key text, p_after bigint, p_released boolean, p_now bigint)
    RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_waiting bigint[];
    v_aside bigint[];
    v_count integer := 0;
BEGIN
    v_waiting := ARRAY(SELECT m.seq FROM pawl.claim c CROSS JOIN LATERAL unnest(c.seqs) AS s(seq)
                         JOIN pawl.message m ON m.kind = p_kind AND m.lane = p_lane AND m.seq = s.seq
                        WHERE c.token = p_token AND c.state = 1 AND c.source = 1 AND s.seq > p_after
                          AND m.stream = p_key ORDER BY 1);
    v_aside := ARRAY(SELECT s.seq FROM pawl.claim c CROSS JOIN LATERAL unnest(c.seqs) AS s(seq)
                       JOIN pawl.aside a ON a.kind = p_kind AND a.seq = s.seq
                      WHERE c.token = p_token AND c.state = 1 AND c.source = 2 AND s.seq > p_after
                        AND a.key = p_key ORDER BY 1);
    IF cardinality(v_waiting) = 0 AND cardinality(v_aside) = 0 THEN
        RETURN 0;
    END IF;
    IF cardinality(v_waiting) > 0 THEN
        v_count := pawl.message_to_aside(p_kind, p_lane, v_waiting, NULL,
                                         CASE WHEN p_released THEN 4 ELSE 2 END::smallint, p_now);
    END IF;
    IF p_released AND cardinality(v_aside) > 0 THEN
        UPDATE pawl.aside a SET reason = 4, scheduled_ms = p_now WHERE a.kind = p_kind AND a.seq = ANY (v_aside);
    END IF;
    PERFORM pawl.claim_leave(p_token, v_waiting || v_aside, '{}', '{}');
    RETURN v_count;
END
$$;
