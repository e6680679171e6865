-- lease: leases of claims: renewal, expiry, and giving back what was granted.

-- name: claim_end
-- An active claim part ends without a report: expired, evicted, or released by an instance that says goodbye.
-- params: p_token bigint, p_part integer (locked by the caller), p_how smallint: 3 expired, 4 evicted, 2 released;
--   p_edge_token, p_edge_seq: up to where its instance may have begun (claim_edge; not for released ones); p_now
-- returns: nothing. Unfinished items go aside. Only a suspect that had begun is charged with a death, and dies at the limit;
--   what may have begun becomes a suspect, and so does what is lost again. What follows them in other parts of
--   the token had the same holder, and goes the same way
-- tables: claim, message, aside, dead, hold, tally, attempt
-- locks: its lane and the part (held by the caller), the other parts of the token, the holds
CREATE OR REPLACE FUNCTION pawl_internal.claim_end(
    p_token bigint, p_part integer, p_how smallint, p_edge_token bigint, p_edge_seq bigint, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_claim record;
    v_charged boolean;
    v_suspect_to bigint; -- NULL: what comes back was not lost
    v_reason smallint := CASE WHEN p_how = :CLAIM_DONE THEN :ASIDE_RELEASED ELSE :ASIDE_EXPIRED END;
    v_keys text[];
    v_others boolean;
    v_more bigint[] := '{}';
    v_stream record;
    v_delta record;
    v_aside bigint := 0;
    v_dead bigint := 0;
BEGIN
    SELECT c.kind, c.lane, c.source, c.seqs, c.suspect, c.policy, c.max_attempts INTO v_claim
      FROM pawl_internal.claim c WHERE c.token = p_token AND c.part = p_part AND c.state = :CLAIM_ACTIVE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    v_charged := p_how <> :CLAIM_DONE AND v_claim.suspect = :SUSPECT_BEGUN;
    IF p_how <> :CLAIM_DONE AND v_claim.suspect = :SUSPECT_NO THEN
        v_suspect_to := CASE WHEN p_token < p_edge_token THEN 9223372036854775807
                             WHEN p_token = p_edge_token THEN p_edge_seq ELSE 0 END;
    END IF;
    UPDATE pawl_internal.claim c SET state = p_how, seqs = '{}', intact = false WHERE c.token = p_token AND c.part = p_part;
    PERFORM 1 FROM pawl_internal.claim c WHERE c.token = p_token AND c.state = :CLAIM_ACTIVE ORDER BY c.part FOR UPDATE;
    v_others := FOUND;
    IF v_others AND p_how <> :CLAIM_DONE THEN
        v_more := ARRAY(
            SELECT s.seq FROM pawl_internal.claim c CROSS JOIN LATERAL unnest(c.seqs) AS s(seq)
              LEFT JOIN pawl_internal.message m ON m.kind = v_claim.kind AND m.lane = v_claim.lane AND m.seq = s.seq
              LEFT JOIN pawl_internal.aside a ON a.kind = v_claim.kind AND a.seq = s.seq
              JOIN (SELECT coalesce(fm.stream, fa.stream) AS stream, min(f.seq) AS seq
                      FROM unnest(v_claim.seqs) AS f(seq)
                      LEFT JOIN pawl_internal.message fm ON fm.kind = v_claim.kind AND fm.lane = v_claim.lane AND fm.seq = f.seq
                      LEFT JOIN pawl_internal.aside fa ON fa.kind = v_claim.kind AND fa.seq = f.seq
                     GROUP BY 1) first ON first.stream = coalesce(m.stream, a.stream) AND first.seq < s.seq
             WHERE c.token = p_token AND c.state = :CLAIM_ACTIVE);
        PERFORM pawl_internal.claim_leave(p_token, v_more, '{}', '{}');
        v_claim.seqs := v_claim.seqs || v_more;
    END IF;
    IF v_claim.source = :SOURCE_MESSAGE THEN
        v_aside := pawl_internal.message_to_aside(v_claim.kind, v_claim.lane, v_claim.seqs, v_suspect_to, v_reason, p_now);
    ELSE
        UPDATE pawl_internal.aside a
           SET deaths = a.deaths + v_charged::integer, reason = v_reason, scheduled_ms = p_now,
               losses = CASE WHEN v_suspect_to IS NULL THEN a.losses
                             WHEN a.losses > 0 OR a.seq <= v_suspect_to THEN 2 ELSE 1 END
         WHERE a.kind = v_claim.kind AND a.seq = ANY (v_claim.seqs);
    END IF;
    v_keys := ARRAY(SELECT DISTINCT a.key FROM pawl_internal.aside a
                     WHERE a.kind = v_claim.kind AND a.seq = ANY (v_claim.seqs) ORDER BY 1);

    IF v_charged THEN
        PERFORM pawl_internal.attempt_note(v_claim.kind, s.seq, p_token, true, p_now) FROM unnest(v_claim.seqs) AS s(seq);
        FOR v_stream IN SELECT a.key, a.seq FROM pawl_internal.aside a
                         WHERE a.kind = v_claim.kind AND a.seq = ANY (v_claim.seqs)
                           AND a.attempts + a.deaths >= v_claim.max_attempts LOOP
            v_dead := v_dead + pawl_internal.aside_to_dead(v_claim.kind, ARRAY[v_stream.seq], :DEAD_KILLED::smallint, NULL, p_now);
            v_aside := v_aside - 1;
            SELECT s.aside_delta, s.dead_delta INTO v_delta
              FROM pawl_internal.stream_dies(v_claim.kind, v_claim.lane, p_token, v_stream.key, v_stream.seq, v_claim.policy, p_now) s;
            v_aside := v_aside + v_delta.aside_delta;
            v_dead := v_dead + v_delta.dead_delta;
        END LOOP;
    END IF;
    -- Successors in other parts of the token wait for what was given back.
    IF v_others AND p_how = 2 THEN
        FOR v_stream IN SELECT a.key, min(a.seq) AS seq FROM pawl_internal.aside a
                         WHERE a.kind = v_claim.kind AND a.seq = ANY (v_claim.seqs) AND a.stream IS NOT NULL
                         GROUP BY a.key ORDER BY 2 LOOP
            v_aside := v_aside + pawl_internal.stream_behind(v_claim.kind, v_claim.lane, p_token, v_stream.key, v_stream.seq,
                                                    true, p_now);
        END LOOP;
    END IF;
    PERFORM pawl_internal.hold_settle(v_claim.kind, v_claim.lane, v_keys);
    IF v_aside <> 0 OR v_dead <> 0 THEN
        INSERT INTO pawl_internal.tally (kind, aside, dead) VALUES (v_claim.kind, v_aside, v_dead);
    END IF;
END
$$;

-- name: claim_items
-- The unfinished items of an active claim part, with their messages.
-- params: p_token bigint, p_part integer
-- returns: items in the order of seq
-- tables: claim, message, aside (read)
CREATE OR REPLACE FUNCTION pawl_internal.claim_items(p_token bigint, p_part integer) RETURNS SETOF pawl_internal.item
LANGUAGE sql VOLATILE ROWS 100 AS $$
    SELECT c.token, c.lease_until_ms, m.seq, {{m.message}}, 1, 0, false, false
      FROM pawl_internal.claim c CROSS JOIN LATERAL unnest(c.seqs) AS s(seq)
      JOIN pawl_internal.message m ON m.kind = c.kind AND m.lane = c.lane AND m.seq = s.seq
     WHERE c.token = p_token AND c.part = p_part AND c.state = :CLAIM_ACTIVE AND c.source = :SOURCE_MESSAGE
    UNION ALL
    SELECT c.token, c.lease_until_ms, a.seq, {{a.message}},
           a.attempts + a.deaths + 1, a.deaths, a.out_of_order, a.losses >= 2
      FROM pawl_internal.claim c CROSS JOIN LATERAL unnest(c.seqs) AS s(seq)
      JOIN pawl_internal.aside a ON a.kind = c.kind AND a.seq = s.seq
     WHERE c.token = p_token AND c.part = p_part AND c.state = :CLAIM_ACTIVE AND c.source = :SOURCE_ASIDE
     ORDER BY 3
$$;

-- name: claim_leave
-- Items leave the active parts of a token.
-- params: p_token bigint, p_gone bigint[]: their seqs; p_done bigint[], p_done_ids uuid[]: those of them that were
--   reported, with their ids
-- returns: nothing. A part whose last item leaves is done; reported ids are remembered.
-- tables: claim (updated)
-- locks: the parts (held by the caller)
CREATE OR REPLACE FUNCTION pawl_internal.claim_leave(p_token bigint, p_gone bigint[], p_done bigint[], p_done_ids uuid[])
    RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_part record;
    v_left bigint[];
BEGIN
    FOR v_part IN SELECT c.part, c.seqs FROM pawl_internal.claim c
                   WHERE c.token = p_token AND c.state = :CLAIM_ACTIVE AND c.seqs && p_gone ORDER BY c.part LOOP
        v_left := ARRAY(SELECT s.seq FROM unnest(v_part.seqs) WITH ORDINALITY AS s(seq, n)
                         WHERE s.seq NOT IN (SELECT unnest(p_gone)) ORDER BY s.n);
        UPDATE pawl_internal.claim c
           SET seqs = v_left, intact = false, state = CASE WHEN cardinality(v_left) = 0 THEN :CLAIM_DONE ELSE :CLAIM_ACTIVE END,
               done_ids = c.done_ids || ARRAY(SELECT d.id FROM unnest(p_done, p_done_ids) AS d(seq, id)
                                               WHERE (d.seq IN (SELECT unnest(v_part.seqs))) IS TRUE)
         WHERE c.token = p_token AND c.part = v_part.part;
    END LOOP;
END
$$;

-- name: claims_expire
-- Ends the overdue claims of a kind; a lane of another instance that had one loses its owner.
-- params: p_caller uuid (NULL: none), p_kind smallint, p_own boolean: only on lanes of the caller, p_now bigint
-- returns: how many parts ended
-- tables: lane (updated), those of claim_end
-- locks: the lanes (skip locked: the holder of one does this itself), then their overdue claims (skip locked: one that a
--   transaction holds is left to a later call; a heartbeat hardly waits: 1 ms for a stream that a
--   transaction holds)
CREATE OR REPLACE FUNCTION pawl_internal.claims_expire(p_caller uuid, p_kind smallint, p_own boolean, p_now bigint) RETURNS integer
LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1ms' AS $$
DECLARE
    v_lane integer;
    v_owner uuid;
    v_claim record;
    v_instances uuid[]; -- that have overdue claims, and up to where they may have begun, before the first of these ends
    v_edge_tokens bigint[];
    v_edge_seqs bigint[];
    v_edge integer;
    v_count integer := 0;
    v_ended integer;
BEGIN
    FOR v_lane IN SELECT l.lane FROM pawl_internal.lane l
                   WHERE l.kind = p_kind AND (NOT p_own OR l.owner = p_caller)
                     AND EXISTS (SELECT 1 FROM pawl_internal.claim c
                                  WHERE c.kind = p_kind AND c.lane = l.lane AND c.state = :CLAIM_ACTIVE AND c.token >= l.low_token
                                    AND c.lease_until_ms <= p_now) ORDER BY l.lane LOOP
        SELECT l.owner INTO v_owner FROM pawl_internal.lane l WHERE l.kind = p_kind AND l.lane = v_lane FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        IF v_instances IS NULL THEN
            SELECT array_agg(i.instance), array_agg(e.token), array_agg(e.seq)
              INTO v_instances, v_edge_tokens, v_edge_seqs
              FROM (SELECT DISTINCT c.instance FROM pawl_internal.claim c
                     WHERE c.kind = p_kind AND c.state = :CLAIM_ACTIVE AND c.lease_until_ms <= p_now) i
             CROSS JOIN LATERAL pawl_internal.claim_edge(i.instance) e;
        END IF;
        v_ended := 0;
        FOR v_claim IN
            WITH locked AS MATERIALIZED (
                SELECT c.token, c.part, c.instance, c.lease_until_ms FROM pawl_internal.claim c
                 WHERE c.kind = p_kind AND c.lane = v_lane AND c.state = :CLAIM_ACTIVE
                   AND c.token IN (SELECT o.token FROM pawl_internal.claim o
                                    WHERE o.kind = p_kind AND o.lane = v_lane AND o.state = :CLAIM_ACTIVE AND o.lease_until_ms <= p_now)
                 ORDER BY c.token, c.part FOR UPDATE SKIP LOCKED)
            SELECT k.token, k.part, k.instance FROM locked k
             WHERE k.lease_until_ms <= p_now
               AND (SELECT count(*) FROM locked n WHERE n.token = k.token)
                   = (SELECT count(*) FROM pawl_internal.claim a WHERE a.token = k.token AND a.state = :CLAIM_ACTIVE)
             ORDER BY k.token, k.part LOOP
            v_edge := array_position(v_instances, v_claim.instance);
            BEGIN
                PERFORM pawl_internal.claim_end(v_claim.token, v_claim.part, :CLAIM_EXPIRED::smallint, v_edge_tokens[v_edge], v_edge_seqs[v_edge],
                                       p_now);
            EXCEPTION WHEN lock_not_available THEN
                CONTINUE; -- a transaction holds one of its streams
            END;
            v_ended := v_ended + 1;
            -- An earlier part of the same token may have taken its last items away: then it is done, not expired.
            v_count := v_count + (SELECT (c.state = :CLAIM_EXPIRED)::integer FROM pawl_internal.claim c
                                   WHERE c.token = v_claim.token AND c.part = v_claim.part);
        END LOOP;
        IF v_ended > 0 AND v_owner IS DISTINCT FROM p_caller THEN
            UPDATE pawl_internal.lane l SET owner = NULL, draining = false
             WHERE l.kind = p_kind AND l.lane = v_lane AND l.owner IS NOT NULL;
        END IF;
    END LOOP;
    RETURN v_count;
END
$$;

-- name: renew
-- Items that a claim granted stay with it longer; naming only some of a part splits it.
-- params: p_instance, p_kind, and one array member per item: p_tokens, p_ids (NULL or nil: every unfinished item of the
--   token); p_lease_ms
-- returns: one answer per item: 1 applied, 2 duplicate, 3 stale
-- tables: claim (updated, inserted), tally
-- locks: the claim parts in the order (token, part), never the lane
CREATE OR REPLACE FUNCTION pawl_internal.renew(
    p_instance uuid, p_kind smallint, p_tokens bigint[], p_ids uuid[], p_lease_ms bigint) RETURNS smallint[]
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_answers smallint[] := array_fill(:ANSWER_STALE::smallint, ARRAY[coalesce(cardinality(p_ids), 0)]);
    v_lease bigint := pawl_internal.now_ms() + pawl_internal.refuse_range('lease_ms', p_lease_ms, 0, 86400000);
    v_token bigint;
    v_item record;
    v_stale integer;
BEGIN
    {{items p_tokens, p_ids?}}
    {{needs p_instance, p_kind}}
    PERFORM 1 FROM pawl_internal.claim c WHERE c.token = ANY (p_tokens) AND c.instance = p_instance AND c.kind = p_kind
      ORDER BY c.token, c.part FOR UPDATE;
    FOR v_token IN SELECT DISTINCT t.token FROM unnest(p_tokens) AS t(token) ORDER BY 1 LOOP
        FOR v_item IN SELECT r.n, r.answer FROM pawl_internal.renew_token(p_instance, p_kind, v_token, p_tokens, p_ids, v_lease) r LOOP
            v_answers[v_item.n] := v_item.answer;
        END LOOP;
    END LOOP;
    SELECT count(*) INTO v_stale FROM unnest(v_answers) AS a(answer) WHERE a.answer = :ANSWER_STALE;
    IF v_stale > 0 THEN
        INSERT INTO pawl_internal.tally (kind, stale) VALUES (p_kind, v_stale);
    END IF;
    RETURN v_answers;
END
$$;

-- name: renew_token
-- Renews the items of one token that a call names.
-- params: p_token: the one to look at; p_tokens, p_ids: the whole call; p_lease: the new end
-- returns: n: place in the call, answer
-- tables: claim (updated, inserted)
-- locks: the parts of the token (held by the caller)
CREATE OR REPLACE FUNCTION pawl_internal.renew_token(
    p_instance uuid, p_kind smallint, p_token bigint, p_tokens bigint[], p_ids uuid[], p_lease bigint)
    RETURNS TABLE (n bigint, answer smallint)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    c_nil constant uuid := '00000000-0000-0000-0000-000000000000';
    v_all boolean;
    v_n bigint[];
    v_answer smallint[];
    v_seqs bigint[];
    v_part record;
    v_named bigint[];
    v_whole smallint := 3;
BEGIN
    v_all := EXISTS (SELECT 1 FROM unnest(p_tokens, p_ids) AS u(token, id)
                      WHERE u.token = p_token AND coalesce(u.id, c_nil) = c_nil);
    WITH named AS (
        SELECT u.n, u.id, row_number() OVER (PARTITION BY u.id ORDER BY u.n) AS nth
          FROM unnest(p_tokens, p_ids) WITH ORDINALITY AS u(token, id, n)
         WHERE u.token = p_token AND coalesce(u.id, c_nil) <> c_nil),
    held AS MATERIALIZED (SELECT t.* FROM pawl_internal.token_items(p_instance, p_kind, p_token) t)
    SELECT array_agg(m.n), array_agg((CASE WHEN f.id IS NOT NULL THEN 1
                                           ELSE pawl_internal.ended_answer(p_instance, p_kind, p_token, m.id) END)::smallint),
           coalesce(array_agg(h.seq) FILTER (WHERE h.seq IS NOT NULL), '{}')
      INTO v_n, v_answer, v_seqs
      FROM named m LEFT JOIN held h ON h.id = m.id AND m.nth = 1
      LEFT JOIN (SELECT DISTINCT d.id FROM held d) f ON f.id = m.id;

    FOR v_part IN SELECT c.* FROM pawl_internal.claim c
                   WHERE c.token = p_token AND c.instance = p_instance AND c.kind = p_kind AND c.state = :CLAIM_ACTIVE
                   ORDER BY c.part LOOP
        v_whole := 1;
        v_named := ARRAY(SELECT s.seq FROM unnest(v_part.seqs) AS s(seq) WHERE v_all OR s.seq = ANY (v_seqs) ORDER BY 1);
        CONTINUE WHEN cardinality(v_named) = 0;
        IF cardinality(v_named) = cardinality(v_part.seqs) THEN
            -- Renewing a suspect means that it begins.
            UPDATE pawl_internal.claim c SET lease_until_ms = p_lease, suspect = CASE WHEN c.suspect > :SUSPECT_NO THEN :SUSPECT_BEGUN ELSE :SUSPECT_NO END
             WHERE c.token = p_token AND c.part = v_part.part;
            CONTINUE;
        END IF;
        UPDATE pawl_internal.claim c
           SET intact = false, seqs = ARRAY(SELECT s.seq FROM unnest(c.seqs) AS s(seq) WHERE s.seq <> ALL (v_named) ORDER BY 1)
         WHERE c.token = p_token AND c.part = v_part.part;
        INSERT INTO pawl_internal.claim (token, part, kind, lane, instance, source, suspect, intact, policy, max_attempts,
                                lease_until_ms, began_ms, request, seqs)
        SELECT p_token, (SELECT max(x.part) FROM pawl_internal.claim x WHERE x.token = p_token) + 1, v_part.kind, v_part.lane,
               v_part.instance, v_part.source, v_part.suspect, false, v_part.policy, v_part.max_attempts, p_lease,
               v_part.began_ms, v_part.request, v_named;
    END LOOP;
    IF v_whole = 3 AND v_all THEN
        SELECT CASE WHEN count(*) > 0 AND bool_and(c.state = :CLAIM_DONE) THEN :ANSWER_DUPLICATE ELSE :ANSWER_STALE END INTO v_whole
          FROM pawl_internal.claim c WHERE c.token = p_token AND c.instance = p_instance AND c.kind = p_kind;
    END IF;
    RETURN QUERY SELECT u.n, u.answer FROM unnest(v_n, v_answer) AS u(n, answer)
                  UNION ALL
                 SELECT u.n, v_whole FROM unnest(p_tokens, p_ids) WITH ORDINALITY AS u(token, id, n)
                  WHERE u.token = p_token AND coalesce(u.id, c_nil) = c_nil;
END
$$;

-- name: token_items
-- The unfinished items of all active parts of a token.
-- params: p_instance, p_kind, p_token
-- returns: part, source, lane, seq, id, key; an id is there once
-- tables: claim, message, aside (read)
-- The range and the hashed list make each part one short index scan, whatever the planner believes about the table
-- (IS TRUE keeps the list from becoming a join).
CREATE OR REPLACE FUNCTION pawl_internal.token_items(p_instance uuid, p_kind smallint, p_token bigint)
    RETURNS TABLE (part integer, source smallint, lane integer, seq bigint, id uuid, key text)
LANGUAGE plpgsql VOLATILE ROWS 100 AS $$
#variable_conflict use_column
DECLARE
    v_part record;
    v_parts integer[] := '{}';
    v_sources smallint[] := '{}';
    v_lanes integer[] := '{}';
    v_seqs bigint[] := '{}';
    v_ids uuid[] := '{}';
    v_keys text[] := '{}';
    v_more record;
BEGIN
    FOR v_part IN SELECT c.part, c.source, c.lane, c.seqs, c.seqs[1] AS low, c.seqs[cardinality(c.seqs)] AS high,
                         c.instance, c.kind, c.state
                    FROM pawl_internal.claim c WHERE c.token = p_token ORDER BY c.part LOOP
        CONTINUE WHEN v_part.state <> :CLAIM_ACTIVE OR v_part.instance <> p_instance OR v_part.kind <> p_kind;
        IF v_part.source = :SOURCE_MESSAGE THEN
            SELECT array_agg(m.seq) AS seqs, array_agg(m.id) AS ids,
                   array_agg(coalesce(m.stream, chr(1) || m.seq::text)) AS keys INTO v_more
              FROM pawl_internal.message m
             WHERE m.kind = p_kind AND m.lane = v_part.lane AND m.seq >= v_part.low AND m.seq <= v_part.high
               AND (m.seq IN (SELECT unnest(v_part.seqs))) IS TRUE;
        ELSE
            SELECT array_agg(a.seq) AS seqs, array_agg(a.id) AS ids, array_agg(a.key) AS keys INTO v_more
              FROM pawl_internal.aside a
             WHERE a.kind = p_kind AND a.seq >= v_part.low AND a.seq <= v_part.high
               AND (a.seq IN (SELECT unnest(v_part.seqs))) IS TRUE;
        END IF;
        CONTINUE WHEN v_more.seqs IS NULL;
        v_parts := v_parts || array_fill(v_part.part, ARRAY[cardinality(v_more.seqs)]);
        v_sources := v_sources || array_fill(v_part.source, ARRAY[cardinality(v_more.seqs)]);
        v_lanes := v_lanes || array_fill(v_part.lane, ARRAY[cardinality(v_more.seqs)]);
        v_seqs := v_seqs || v_more.seqs;
        v_ids := v_ids || v_more.ids;
        v_keys := v_keys || v_more.keys;
    END LOOP;
    RETURN QUERY SELECT u.part, u.source, u.lane, u.seq, u.id, u.key
                   FROM unnest(v_parts, v_sources, v_lanes, v_seqs, v_ids, v_keys) AS u(part, source, lane, seq, id, key);
END
$$;
