-- claim_behind: reads waiting messages of a lane and sets those aside whose stream is held or in flight.
-- params: as claim_careful; p_flight: seqs in flight on the lane; p_flight_keys: their streams
-- returns: used: how many messages were read; tokens: the grant, or empty
-- tables: lane, claim, message, aside, hold, dead, tally
-- locks: the lane (held by the caller), the holds of the streams that are read, the rows that move
CREATE OR REPLACE FUNCTION pawl.claim_behind(
    p_instance uuid, p_lane pawl.lane, p_token bigint, p_left integer, p_lease bigint, p_policy smallint,
    p_attempts integer, p_request uuid, p_start bigint, p_seen pg_snapshot, p_now bigint,
    p_flight bigint[], p_flight_keys text[], OUT used integer, OUT tokens bigint[])
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_seqs bigint[];
    v_keys text[];
    v_grant bigint[];
    v_behind bigint[];
    v_behind_keys text[];
    v_parked bigint[];
    v_aside integer := 0;
    v_dead integer := 0;
    v_xid xid8;
BEGIN
    SELECT coalesce(array_agg(r.seq ORDER BY r.seq), '{}'), coalesce(array_agg(r.key ORDER BY r.seq), '{}')
      INTO v_seqs, v_keys
      FROM (SELECT m.seq, coalesce(m.stream, chr(1) || m.seq::text) AS key FROM pawl.message m
             WHERE m.kind = p_lane.kind AND m.lane = p_lane.lane AND m.seq > p_start AND m.seq <> ALL (p_flight)
             ORDER BY m.seq LIMIT p_left) r;
    used := cardinality(v_seqs);
    tokens := '{}';
    IF used = 0 THEN
        PERFORM pawl.lane_read(p_lane, NULL, NULL, NULL, p_seen, false) WHERE p_start < p_lane.high - 20000;
        RETURN;
    END IF;
    BEGIN -- for its id, which is newer than every seq that was read
        -- The holds after the messages: one that is made between the two must be seen.
        WITH locked AS MATERIALIZED (
            SELECT h.key, h.state FROM pawl.hold h WHERE h.kind = p_lane.kind AND h.key = ANY (v_keys) ORDER BY h.key FOR UPDATE),
        sorted AS (
            SELECT r.seq, r.key,
                   CASE WHEN k.state = 3 THEN 3 WHEN k.state IS NOT NULL OR r.key = ANY (p_flight_keys) THEN 2 ELSE 1 END AS fate
              FROM unnest(v_seqs, v_keys) AS r(seq, key) LEFT JOIN locked k ON k.key = r.key)
        SELECT coalesce(array_agg(s.seq ORDER BY s.seq) FILTER (WHERE s.fate = 1), '{}'),
               coalesce(array_agg(s.seq ORDER BY s.seq) FILTER (WHERE s.fate = 2), '{}'),
               coalesce(array_agg(DISTINCT s.key) FILTER (WHERE s.fate = 2), '{}'),
               coalesce(array_agg(s.seq ORDER BY s.seq) FILTER (WHERE s.fate = 3), '{}')
          INTO v_grant, v_behind, v_behind_keys, v_parked FROM sorted s;
        IF cardinality(v_behind) > 0 THEN
            v_aside := pawl.message_to_aside(p_lane.kind, p_lane.lane, v_behind, NULL, 2::smallint, p_now);
            PERFORM pawl.hold_settle(p_lane.kind, p_lane.lane, v_behind_keys);
        END IF;
        IF cardinality(v_parked) > 0 THEN
            PERFORM pawl.message_to_aside(p_lane.kind, p_lane.lane, v_parked, NULL, 2::smallint, p_now);
            v_dead := pawl.aside_to_dead(p_lane.kind, v_parked, 4::smallint, NULL, p_now);
        END IF;
        IF v_aside > 0 OR v_dead > 0 THEN
            INSERT INTO pawl.tally (kind, aside, dead) VALUES (p_lane.kind, v_aside, v_dead);
        END IF;
        IF cardinality(v_grant) > 0 THEN
            INSERT INTO pawl.claim (token, part, kind, lane, instance, source, policy, max_attempts, lease_until_ms,
                                    began_ms, request, seqs)
            VALUES (p_token, 1, p_lane.kind, p_lane.lane, p_instance, 1, p_policy, p_attempts, p_lease, p_now, p_request, v_grant)
            RETURNING pawl.xid_widen(xmin) INTO v_xid;
            tokens := ARRAY[p_token];
        ELSIF cardinality(v_behind) > 0 THEN
            SELECT pawl.xid_widen(a.xmin) INTO v_xid FROM pawl.aside a WHERE a.kind = p_lane.kind AND a.seq = v_behind[1];
        ELSE
            SELECT pawl.xid_widen(d.xmin) INTO v_xid FROM pawl.dead d WHERE d.kind = p_lane.kind AND d.seq = v_parked[1];
        END IF;
    EXCEPTION WHEN unique_violation THEN
        RAISE EXCEPTION USING ERRCODE = 'PW003', MESSAGE = format('token %s was granted before: raise the epoch', p_token);
    END;
    IF used = p_left AND v_seqs[used] < p_lane.high THEN
        -- Late commits filled the batch: there may be more of them behind the cursor, so it is not moved.
        IF cardinality(tokens) > 0 THEN
            UPDATE pawl.lane l SET token = p_token WHERE l.kind = p_lane.kind AND l.lane = p_lane.lane;
        END IF;
    ELSE
        PERFORM pawl.lane_read(p_lane, tokens[1], v_seqs[used], v_xid, p_seen, false);
    END IF;
END
$$;
