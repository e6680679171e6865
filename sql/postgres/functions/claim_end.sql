-- claim_end: an active claim part ends without a report: expired, evicted, or released by an instance that says goodbye.
-- params: p_token bigint, p_part integer (locked by the caller), p_how smallint: 3 expired, 4 evicted, 2 released;
--         p_edge_token, p_edge_seq: up to where its instance may have begun (claim_edge; not for released ones); p_now
-- returns: nothing. Unfinished items go aside. Only a suspect that had begun is charged with a death, and dies at the limit;
--          what may have begun becomes a suspect, and so does what is lost again. What is behind them in other parts of
--          the token was in the same hands, and goes the same way
-- tables: claim, message, aside, dead, hold, tally
-- locks: its lane and the part (held by the caller), the other parts of the token, the holds
CREATE OR REPLACE FUNCTION pawl.claim_end(
    p_token bigint, p_part integer, p_how smallint, p_edge_token bigint, p_edge_seq bigint, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_claim record;
    v_charged boolean;
    v_suspect_to bigint; -- NULL: what comes back was not lost
    v_reason smallint := CASE WHEN p_how = 2 THEN 4 ELSE 3 END;
    v_keys text[];
    v_others boolean;
    v_more bigint[] := '{}';
    v_stream record;
    v_delta record;
    v_aside bigint := 0;
    v_dead bigint := 0;
BEGIN
    SELECT c.kind, c.lane, c.source, c.seqs, c.suspect, c.policy, c.max_attempts INTO v_claim
      FROM pawl.claim c WHERE c.token = p_token AND c.part = p_part AND c.state = 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    v_charged := p_how <> 2 AND v_claim.suspect = 2;
    IF p_how <> 2 AND v_claim.suspect = 0 THEN
        v_suspect_to := CASE WHEN p_token < p_edge_token THEN 9223372036854775807
                             WHEN p_token = p_edge_token THEN p_edge_seq ELSE 0 END;
    END IF;
    UPDATE pawl.claim c SET state = p_how, seqs = '{}', intact = false WHERE c.token = p_token AND c.part = p_part;
    PERFORM 1 FROM pawl.claim c WHERE c.token = p_token AND c.state = 1 ORDER BY c.part FOR UPDATE;
    v_others := FOUND;
    IF v_others AND p_how <> 2 THEN
        v_more := ARRAY(
            SELECT s.seq FROM pawl.claim c CROSS JOIN LATERAL unnest(c.seqs) AS s(seq)
              LEFT JOIN pawl.message m ON m.kind = v_claim.kind AND m.lane = v_claim.lane AND m.seq = s.seq
              LEFT JOIN pawl.aside a ON a.kind = v_claim.kind AND a.seq = s.seq
              JOIN (SELECT coalesce(fm.stream, fa.stream) AS stream, min(f.seq) AS seq
                      FROM unnest(v_claim.seqs) AS f(seq)
                      LEFT JOIN pawl.message fm ON fm.kind = v_claim.kind AND fm.lane = v_claim.lane AND fm.seq = f.seq
                      LEFT JOIN pawl.aside fa ON fa.kind = v_claim.kind AND fa.seq = f.seq
                     GROUP BY 1) first ON first.stream = coalesce(m.stream, a.stream) AND first.seq < s.seq
             WHERE c.token = p_token AND c.state = 1);
        PERFORM pawl.claim_leave(p_token, v_more, '{}', '{}');
        v_claim.seqs := v_claim.seqs || v_more;
    END IF;
    IF v_claim.source = 1 THEN
        v_aside := pawl.message_to_aside(v_claim.kind, v_claim.lane, v_claim.seqs, v_suspect_to, v_reason, p_now);
    ELSE
        UPDATE pawl.aside a
           SET deaths = a.deaths + v_charged::integer, reason = v_reason, scheduled_ms = p_now,
               losses = CASE WHEN v_suspect_to IS NULL THEN a.losses
                             WHEN a.losses > 0 OR a.seq <= v_suspect_to THEN 2 ELSE 1 END
         WHERE a.kind = v_claim.kind AND a.seq = ANY (v_claim.seqs);
    END IF;
    v_keys := ARRAY(SELECT DISTINCT a.key FROM pawl.aside a
                     WHERE a.kind = v_claim.kind AND a.seq = ANY (v_claim.seqs) ORDER BY 1);

    IF v_charged THEN
        FOR v_stream IN SELECT a.key, a.seq FROM pawl.aside a
                         WHERE a.kind = v_claim.kind AND a.seq = ANY (v_claim.seqs)
                           AND a.attempts + a.deaths >= v_claim.max_attempts LOOP
            v_dead := v_dead + pawl.aside_to_dead(v_claim.kind, ARRAY[v_stream.seq], 3::smallint, NULL, p_now);
            v_aside := v_aside - 1;
            SELECT s.aside_delta, s.dead_delta INTO v_delta
              FROM pawl.stream_dies(v_claim.kind, v_claim.lane, p_token, v_stream.key, v_stream.seq, v_claim.policy, p_now) s;
            v_aside := v_aside + v_delta.aside_delta;
            v_dead := v_dead + v_delta.dead_delta;
        END LOOP;
    END IF;
    -- Successors in other parts of the token wait behind what was given back.
    IF v_others AND p_how = 2 THEN
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
