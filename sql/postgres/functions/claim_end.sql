-- claim_end: an active claim part ends without a report: expired, evicted, or released by an instance that says goodbye.
-- params: p_token bigint, p_part integer (locked by the caller), p_how smallint: 3 expired, 4 evicted, 2 released; p_now
-- returns: nothing. Unfinished items go aside, with a death unless released; at the limit of attempts they die. What is
--          behind them in other parts of the token was in the same hands, and goes the same way
-- tables: claim, message, aside, dead, hold, tally
-- locks: its lane and the part (held by the caller), the other parts of the token, the holds
CREATE OR REPLACE FUNCTION pawl.claim_end(p_token bigint, p_part integer, p_how smallint, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_claim record;
    v_death integer := CASE WHEN p_how = 2 THEN 0 ELSE 1 END;
    v_reason smallint := CASE WHEN p_how = 2 THEN 4 ELSE 3 END;
    v_keys text[];
    v_others boolean;
    v_more bigint[];
    v_stream record;
    v_delta record;
    v_aside bigint := 0;
    v_dead bigint := 0;
BEGIN
    SELECT c.kind, c.lane, c.source, c.seqs, c.policy, c.max_attempts INTO v_claim
      FROM pawl.claim c WHERE c.token = p_token AND c.part = p_part AND c.state = 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    UPDATE pawl.claim c SET state = p_how, seqs = '{}', intact = false WHERE c.token = p_token AND c.part = p_part;
    IF v_claim.source = 1 THEN
        v_aside := pawl.message_to_aside(v_claim.kind, v_claim.lane, v_claim.seqs, v_death, v_reason, p_now);
    ELSE
        UPDATE pawl.aside a SET deaths = a.deaths + v_death, reason = v_reason, scheduled_ms = p_now
         WHERE a.kind = v_claim.kind AND a.seq = ANY (v_claim.seqs);
    END IF;
    PERFORM 1 FROM pawl.claim c WHERE c.token = p_token AND c.state = 1 ORDER BY c.part FOR UPDATE;
    v_others := FOUND;
    IF v_others AND v_death = 1 THEN
        -- Behind a death under skip (policy 2) a stream goes on: what is there stays where it is.
        v_more := ARRAY(
            SELECT s.seq FROM pawl.claim c CROSS JOIN LATERAL unnest(c.seqs) AS s(seq)
              LEFT JOIN pawl.message m ON m.kind = v_claim.kind AND m.lane = v_claim.lane AND m.seq = s.seq
              LEFT JOIN pawl.aside a ON a.kind = v_claim.kind AND a.seq = s.seq
              JOIN (SELECT f.key, min(f.seq) AS seq FROM pawl.aside f
                     WHERE f.kind = v_claim.kind AND f.seq = ANY (v_claim.seqs) AND f.stream IS NOT NULL
                       AND (v_claim.policy <> 2 OR f.attempts + f.deaths < v_claim.max_attempts)
                     GROUP BY f.key) first ON first.key = coalesce(m.stream, a.key) AND first.seq < s.seq
             WHERE c.token = p_token AND c.state = 1);
        IF v_claim.source = 1 THEN
            v_aside := v_aside + pawl.message_to_aside(v_claim.kind, v_claim.lane, v_more, v_death, v_reason, p_now);
        ELSE
            UPDATE pawl.aside a SET deaths = a.deaths + v_death, reason = v_reason, scheduled_ms = p_now
             WHERE a.kind = v_claim.kind AND a.seq = ANY (v_more);
        END IF;
        PERFORM pawl.claim_leave(p_token, v_more, '{}', '{}');
        v_claim.seqs := v_claim.seqs || v_more;
    END IF;
    v_keys := ARRAY(SELECT DISTINCT a.key FROM pawl.aside a
                     WHERE a.kind = v_claim.kind AND a.seq = ANY (v_claim.seqs) ORDER BY 1);

    IF v_death = 1 THEN
        -- Under block and park only the first of a stream dies by the limit; what is behind it waits or is parked.
        FOR v_stream IN
            SELECT d.key, d.seq FROM (
                SELECT a.key, a.seq, row_number() OVER (PARTITION BY a.key ORDER BY a.seq) AS nth
                  FROM pawl.aside a
                 WHERE a.kind = v_claim.kind AND a.seq = ANY (v_claim.seqs)
                   AND a.attempts + a.deaths >= v_claim.max_attempts) d
             WHERE v_claim.policy = 2 OR d.nth = 1 ORDER BY d.seq LOOP
            v_dead := v_dead + pawl.aside_to_dead(v_claim.kind, ARRAY[v_stream.seq], 3::smallint, NULL, p_now);
            v_aside := v_aside - 1;
            SELECT s.aside_delta, s.dead_delta INTO v_delta
              FROM pawl.stream_dies(v_claim.kind, v_claim.lane, p_token, v_stream.key, v_stream.seq, v_claim.policy, p_now) s;
            v_aside := v_aside + v_delta.aside_delta;
            v_dead := v_dead + v_delta.dead_delta;
        END LOOP;
    END IF;
    -- Successors in other parts of the token wait behind what was given back.
    IF v_others AND v_death = 0 THEN
        FOR v_stream IN SELECT a.key, min(a.seq) AS seq FROM pawl.aside a
                         WHERE a.kind = v_claim.kind AND a.seq = ANY (v_claim.seqs) AND a.stream IS NOT NULL
                         GROUP BY a.key ORDER BY 2 LOOP
            v_aside := v_aside + pawl.stream_behind(v_claim.kind, v_claim.lane, p_token, v_stream.key, v_stream.seq,
                                                    true, p_now);
        END LOOP;
    END IF;
    PERFORM pawl.hold_settle(v_claim.kind, v_claim.lane, v_keys);
    IF v_aside <> 0 OR v_dead <> 0 THEN
        INSERT INTO pawl.tally (kind, aside, dead) VALUES (v_claim.kind, v_aside, v_dead);
    END IF;
END
$$;
