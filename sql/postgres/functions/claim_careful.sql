-- claim_careful: claims from one lane that has streams aside or claims in flight.
-- params: p_lane pawl.lane: as the caller read it under its lock; p_token: the first token to use; p_left: how many items are
--         still wanted; p_first: the call has used up nothing yet; p_lease,
--         p_policy, p_attempts, p_request: of the grants; p_start: where to read messages from;
--         p_seen: a snapshot from before p_start was computed; p_now
-- returns: used: how many of p_left are used up (granted, or read and set aside); tokens: the grants, in order
-- tables: lane, claim, message, aside, hold, dead, tally
-- locks: the lane (held by the caller), the holds of the streams that are read, the rows that move
CREATE OR REPLACE FUNCTION pawl.claim_careful(
    p_instance uuid, p_lane pawl.lane, p_token bigint, p_left integer, p_first boolean, p_lease bigint, p_policy smallint,
    p_attempts integer, p_request uuid, p_start bigint, p_seen pg_snapshot, p_now bigint,
    OUT used integer, OUT tokens bigint[])
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_flight bigint[];
    v_flight_keys text[];
    v_held record;
    v_token bigint := p_token;
BEGIN
    -- What is in flight is read first: a claim that ends after this makes us set a message aside without need, never
    -- grant one too early.
    v_flight := ARRAY(SELECT s.seq FROM pawl.claim c CROSS JOIN LATERAL unnest(c.seqs) AS s(seq)
                       WHERE c.kind = p_lane.kind AND c.lane = p_lane.lane AND c.state = 1
                         AND c.token >= p_lane.low_token);
    v_flight_keys := ARRAY(SELECT m.stream FROM unnest(v_flight) AS s(seq)
                             JOIN pawl.message m ON m.kind = p_lane.kind AND m.lane = p_lane.lane AND m.seq = s.seq
                            WHERE m.stream IS NOT NULL
                            UNION
                           SELECT a.key FROM unnest(v_flight) AS s(seq)
                             JOIN pawl.aside a ON a.kind = p_lane.kind AND a.seq = s.seq);
    SELECT h.* INTO v_held
      FROM pawl.claim_held(p_instance, p_lane.kind, p_lane.lane, p_left, p_first, v_flight_keys, p_now) h;
    tokens := '{}';
    used := 0;
    IF v_held.suspect IS NOT NULL THEN
        INSERT INTO pawl.claim (token, part, kind, lane, instance, source, suspect, policy, max_attempts, lease_until_ms,
                                began_ms, request, seqs)
        VALUES (v_token, 1, p_lane.kind, p_lane.lane, p_instance, 2, v_held.suspect_state, p_policy, p_attempts, p_lease, p_now, p_request,
                ARRAY[v_held.suspect]);
        tokens := tokens || v_token;
        used := 1;
        IF cardinality(v_held.seqs) > 0 THEN
            v_token := pawl.token_next();
        END IF;
    END IF;
    IF cardinality(v_held.seqs) > 0 THEN
        INSERT INTO pawl.claim (token, part, kind, lane, instance, source, lost, policy, max_attempts, lease_until_ms, began_ms,
                                request, seqs)
        VALUES (v_token, 1, p_lane.kind, p_lane.lane, p_instance, 2, v_held.lost, p_policy, p_attempts, p_lease, p_now, p_request, v_held.seqs);
        tokens := tokens || v_token;
        used := used + cardinality(v_held.seqs);
    END IF;
    IF used > 0 THEN
        UPDATE pawl.lane l SET token = v_token WHERE l.kind = p_lane.kind AND l.lane = p_lane.lane;
    END IF;
    IF v_held.over THEN
        used := p_left;
    END IF;
    IF used > 0 THEN
        RETURN;
    END IF;
    SELECT r.used, r.tokens INTO used, tokens
      FROM pawl.claim_behind(p_instance, p_lane, p_token, p_left, p_lease, p_policy, p_attempts, p_request, p_start,
                             p_seen, p_now, v_flight, v_flight_keys) r;
END
$$;
