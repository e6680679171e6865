-- grants_settle: what the store has granted to an instance and its holder does not know of goes back, without an attempt.
-- params: p_instance uuid; p_side smallint: 1 messages, 2 jobs, 3 checkpoints; p_tokens bigint[], p_numbers bigint[]: what is
--         held, the seq of a message, the id of a job (ignored for checkpoints); p_settled bigint: of the grants up to this token
--         those that are not listed are known to nobody; p_seen bigint: the highest token that the holder ever got
-- returns: released: how many; newest: the highest token among the side's grants that are left (0: none); epoch
-- raises: PW004 the instance is unknown, evicted or gone; PW001 seen is no token of this store
-- tables: instance, claim, message, aside, job_claim (read), those of epoch_follow, release, jobs_report; checkpoint (updated)
-- locks: those of epoch_follow, release and jobs_report, the checkpoints; nothing when the two agree. It goes with a heartbeat,
--        which waits for nobody: when a transaction has one of them for longer, what is lost (messages: of this kind) is left to
--        the next call
-- Items are released by their id, which the outbox takes twice: one whose twin under the same token is held is left until the
-- twin has ended.
CREATE OR REPLACE FUNCTION pawl.grants_settle(
    p_instance uuid, p_side smallint, p_tokens bigint[], p_numbers bigint[], p_settled bigint, p_seen bigint,
    OUT released bigint, OUT newest bigint, OUT epoch bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
SET lock_timeout = '50ms'
AS $$
#variable_conflict use_column
DECLARE
    v_now bigint := pawl.now_ms();
    v_lost record;
    v_answers smallint[];
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pawl.instance i WHERE i.id = p_instance AND i.state = 1) THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format('instance %s is evicted: drop everything and register anew', p_instance);
    END IF;
    epoch := pawl.epoch_follow(coalesce(p_seen, 0));
    released := 0;
    IF p_side = 1 THEN
        FOR v_lost IN
            SELECT c.kind, array_agg(c.token ORDER BY c.token, s.seq) AS tokens,
                   array_agg(coalesce(m.id, a.id) ORDER BY c.token, s.seq) AS ids
              FROM pawl.claim c CROSS JOIN LATERAL unnest(c.seqs) AS s(seq)
              LEFT JOIN pawl.message m ON m.kind = c.kind AND m.lane = c.lane AND m.seq = s.seq
              LEFT JOIN pawl.aside a ON a.kind = c.kind AND a.seq = s.seq
             WHERE c.instance = p_instance AND c.state = 1 AND c.token <= p_settled
               AND NOT EXISTS (SELECT 1 FROM unnest(p_tokens, p_numbers) AS h(token, seq)
                                WHERE h.token = c.token AND h.seq = s.seq)
             GROUP BY c.kind ORDER BY c.kind LOOP
            SELECT array_agg(l.token ORDER BY l.n), array_agg(l.id ORDER BY l.n) INTO v_lost.tokens, v_lost.ids
              FROM unnest(v_lost.tokens, v_lost.ids) WITH ORDINALITY AS l(token, id, n)
             WHERE NOT EXISTS (SELECT 1 FROM (SELECT m.seq FROM pawl.message m WHERE m.kind = v_lost.kind AND m.id = l.id
                                               UNION ALL
                                              SELECT a.seq FROM pawl.aside a WHERE a.kind = v_lost.kind AND a.id = l.id) AS twin
                                 JOIN unnest(p_tokens, p_numbers) AS h(token, seq) ON h.seq = twin.seq
                                WHERE h.token = l.token);
            BEGIN
                v_answers := pawl.release(p_instance, v_lost.kind, v_lost.tokens, v_lost.ids, NULL);
                released := released + (SELECT count(*) FROM unnest(v_answers) AS r(answer) WHERE r.answer = 1);
            EXCEPTION WHEN lock_not_available THEN
                NULL;
            END;
        END LOOP;
        SELECT coalesce(max(c.token), 0) INTO newest FROM pawl.claim c WHERE c.instance = p_instance AND c.state = 1;
    ELSIF p_side = 2 THEN
        SELECT array_agg(c.token ORDER BY c.token, u.id) AS tokens, array_agg(u.id ORDER BY c.token, u.id) AS ids,
               array_agg(4::smallint) AS outcomes, array_agg(0::bigint) AS delays INTO v_lost
          FROM pawl.job_claim c CROSS JOIN LATERAL unnest(c.ids) AS u(id)
         WHERE c.instance = p_instance AND c.state = 1 AND c.token <= p_settled
           AND NOT EXISTS (SELECT 1 FROM unnest(p_tokens, p_numbers) AS h(token, id) WHERE h.token = c.token AND h.id = u.id);
        IF v_lost.ids IS NOT NULL THEN
            BEGIN
                SELECT r.answers INTO v_answers
                  FROM pawl.jobs_report(p_instance, v_lost.tokens, v_lost.ids, v_lost.outcomes, NULL, v_lost.delays,
                                        v_lost.delays, NULL, NULL, NULL, NULL, NULL, NULL, NULL) r;
                released := (SELECT count(*) FROM unnest(v_answers) AS r(answer) WHERE r.answer = 1);
            EXCEPTION WHEN lock_not_available THEN
                NULL;
            END;
        END IF;
        SELECT coalesce(max(c.token), 0) INTO newest FROM pawl.job_claim c WHERE c.instance = p_instance AND c.state = 1;
    ELSE
        WITH lost AS (
            UPDATE pawl.checkpoint c SET status = 0, instance = NULL, lease_until_ms = 0, due_ms = v_now, updated_ms = v_now
             WHERE (c.stream, c.perspective) IN (
                       SELECT o.stream, o.perspective FROM pawl.checkpoint o
                        WHERE o.instance = p_instance AND o.token <= p_settled AND o.token <> ALL (coalesce(p_tokens, '{}'))
                          FOR UPDATE SKIP LOCKED)
            RETURNING 1)
        SELECT count(*) INTO released FROM lost;
        SELECT coalesce(max(c.token), 0) INTO newest FROM pawl.checkpoint c WHERE c.instance = p_instance;
    END IF;
END
$$;
