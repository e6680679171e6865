-- view_messages: messages that fit a filter, by seq.
-- params: p_kind (0: any), p_state (0: any but done), p_stream, p_type, p_topic, p_fingerprint (NULL: any), p_lane (-1: any),
--         p_after: only higher seqs, p_before: dead and done only when they ended before (0: any), p_limit
-- returns: message_row
-- tables: those of message_all (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.view_messages(
    p_kind smallint, p_state integer, p_stream text, p_type text, p_topic text, p_fingerprint text, p_lane integer,
    p_after bigint, p_before bigint, p_limit integer) RETURNS SETOF pawl.message_row
LANGUAGE sql VOLATILE SECURITY DEFINER ROWS 100
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
    SELECT r.* FROM (
        (SELECT v.* FROM pawl.lane l
         CROSS JOIN LATERAL (
                SELECT v.* FROM pawl.message_all v
                 WHERE v.place = 1 AND v.kind = l.kind AND v.lane = l.lane AND v.seq > p_after
                   AND (p_state = 0 OR v.state = p_state) AND (p_stream IS NULL OR v.stream = p_stream)
                   AND (p_type IS NULL OR v.type = p_type) AND (p_topic IS NULL OR v.topic = p_topic)
                   AND (p_fingerprint IS NULL OR v.fingerprint = p_fingerprint)
                 ORDER BY v.seq LIMIT p_limit) v
          WHERE p_kind IN (0, l.kind) AND (p_lane = -1 OR l.lane = p_lane) AND p_state IN (0, 1, 2)
            -- A stream lives in one lane.
            AND (p_stream IS NULL OR l.lane = (SELECT pawl.partition_of(p_stream, s.partition_count) % s.lane_count
                                                 FROM pawl.settings s)))
        UNION ALL
        (SELECT v.* FROM unnest(ARRAY[1, 2, 3]::smallint[]) AS k(kind)
         CROSS JOIN LATERAL (
                SELECT v.* FROM pawl.message_all v
                 WHERE v.place = 2 AND v.kind = k.kind AND v.seq > p_after AND (p_lane = -1 OR v.lane = p_lane)
                   AND (p_state = 0 OR v.state = p_state) AND (p_stream IS NULL OR v.stream = p_stream)
                   AND (p_type IS NULL OR v.type = p_type) AND (p_topic IS NULL OR v.topic = p_topic)
                   AND (p_fingerprint IS NULL OR v.fingerprint = p_fingerprint)
                 ORDER BY v.seq LIMIT p_limit) v
          WHERE p_kind IN (0, k.kind) AND p_state IN (0, 2, 3, 4))
        UNION ALL
        (SELECT v.* FROM unnest(ARRAY[1, 2, 3]::smallint[]) AS k(kind)
         CROSS JOIN LATERAL (
                SELECT v.* FROM pawl.message_all v
                 WHERE v.place = 3 AND v.kind = k.kind AND v.seq > p_after AND (p_lane = -1 OR v.lane = p_lane)
                   AND (p_before = 0 OR v.ended_ms < p_before) AND (p_state = 0 OR v.state = p_state) AND (p_stream IS NULL OR v.stream = p_stream)
                   AND (p_type IS NULL OR v.type = p_type) AND (p_topic IS NULL OR v.topic = p_topic)
                   AND (p_fingerprint IS NULL OR v.fingerprint = p_fingerprint)
                 ORDER BY v.seq LIMIT p_limit) v
          WHERE p_kind IN (0, k.kind) AND p_state IN (0, 5))
        UNION ALL
        (SELECT v.* FROM unnest(ARRAY[1, 2, 3]::smallint[]) AS k(kind)
         CROSS JOIN LATERAL (
                SELECT v.* FROM pawl.message_all v
                 WHERE v.place = 4 AND v.kind = k.kind AND v.seq > p_after AND (p_lane = -1 OR v.lane = p_lane)
                   AND (p_before = 0 OR v.ended_ms < p_before) AND (p_state = 0 OR v.state = p_state) AND (p_stream IS NULL OR v.stream = p_stream)
                   AND (p_type IS NULL OR v.type = p_type) AND (p_topic IS NULL OR v.topic = p_topic)
                   AND (p_fingerprint IS NULL OR v.fingerprint = p_fingerprint)
                 ORDER BY v.seq LIMIT p_limit) v
          WHERE p_kind IN (0, k.kind) AND p_state = 6)) r
     ORDER BY r.seq LIMIT p_limit
$$;
