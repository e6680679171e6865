-- instance: the instances of a fleet: registration, heartbeat, liveness, grants, eviction, duties.

-- name: duty_leave
-- Gives a duty back before its lease expires.
-- params: p_name text, p_token bigint
-- raises: PW004 the token is no longer valid
-- tables: duty (updated)
-- locks: the duty's row
CREATE OR REPLACE FUNCTION pawl_internal.duty_leave(p_name text, p_token bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
BEGIN
    UPDATE pawl_internal.duty d SET lease_until_ms = v_now
     WHERE d.name = p_name AND d.token = p_token AND d.lease_until_ms > v_now;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = 'the duty is no longer held';
    END IF;
END
$$;

-- name: duty_take
-- Takes or renews a duty that exactly one live instance has at a time.
-- params: p_name text, p_instance uuid, p_lease_ms bigint
-- returns: held (by the caller), token (0 when not held), instance (the holder), now_ms, lease_until_ms
-- raises: PW004 the instance is not active
-- tables: duty (inserted, updated), instance (read)
-- locks: the duty's row
CREATE OR REPLACE FUNCTION pawl_internal.duty_take(
    p_name text, p_instance uuid, p_lease_ms bigint, OUT held boolean, OUT token bigint, OUT instance uuid,
    OUT now_ms bigint, OUT lease_until_ms bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_duty pawl_internal.duty%ROWTYPE;
BEGIN
    {{needs p_name, p_lease_ms}}
    PERFORM pawl_internal.refuse_range('lease_ms', p_lease_ms, 0, 86400000);
    now_ms := pawl_internal.now_ms();
    IF NOT EXISTS (SELECT 1 FROM pawl_internal.instance i WHERE i.id = p_instance AND i.state = :INSTANCE_ACTIVE) THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = 'the instance is not active';
    END IF;
    INSERT INTO pawl_internal.duty (name) VALUES (p_name) ON CONFLICT (name) DO NOTHING;
    SELECT d.* INTO v_duty FROM pawl_internal.duty d WHERE d.name = p_name FOR UPDATE;
    held := v_duty.instance = p_instance AND v_duty.lease_until_ms > now_ms;
    IF held IS NOT TRUE THEN
        held := v_duty.lease_until_ms <= now_ms
            OR NOT EXISTS (SELECT 1 FROM pawl_internal.instance i WHERE i.id = v_duty.instance AND i.state = :INSTANCE_ACTIVE);
        IF held THEN
            v_duty.token := pawl_internal.token_next();
            v_duty.instance := p_instance;
        END IF;
    END IF;
    IF held THEN
        v_duty.lease_until_ms := now_ms + p_lease_ms;
        UPDATE pawl_internal.duty d SET instance = v_duty.instance, token = v_duty.token, lease_until_ms = v_duty.lease_until_ms
         WHERE d.name = p_name;
    END IF;
    token := CASE WHEN held THEN v_duty.token ELSE 0 END;
    instance := v_duty.instance;
    lease_until_ms := v_duty.lease_until_ms;
END
$$;

-- name: evict_one
-- Ends an instance that is silent, or takes what was left of one: its lanes are free and its claims end as evicted.
-- params: p_id uuid (its row is locked by the caller), p_now bigint
-- returns: whether it was active. What a transaction holds of it is left to a later call (leftovers), but it is evicted and
--   hears of it: it must not go on with a part of what it had
-- tables: instance, lane (updated), those of instance_end
-- locks: its lanes, then its claims (skip locked: a heartbeat does not wait; the caller has set a lock_timeout)
CREATE OR REPLACE FUNCTION pawl_internal.evict_one(p_id uuid, p_now bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_all boolean := pawl_internal.instance_end(p_id, :CLAIM_EVICTED::smallint, false, p_now);
BEGIN
    UPDATE pawl_internal.instance i SET state = :INSTANCE_EVICTED, evicted_ms = p_now, leftovers = NOT v_all WHERE i.id = p_id AND i.state = :INSTANCE_ACTIVE;
    IF FOUND THEN
        RETURN true;
    END IF;
    UPDATE pawl_internal.instance i SET leftovers = false WHERE i.id = p_id AND v_all;
    RETURN false;
END
$$;

-- name: evict_silent
-- Evicts every instance whose lease has expired, except the caller, and takes what was left of evicted ones.
-- params: p_caller uuid (NULL: none), p_now bigint
-- returns: how many are newly evicted
-- tables: instance (updated), those of evict_one
-- locks: the silent instances (skip locked: one that is locked is beating right now), then those of evict_one
--   (50 ms for the first that a transaction holds, then 1 ms)
CREATE OR REPLACE FUNCTION pawl_internal.evict_silent(p_caller uuid, p_now bigint) RETURNS integer
LANGUAGE plpgsql VOLATILE
SET lock_timeout = '50ms' AS $$
DECLARE
    v_id uuid;
    v_count integer := 0;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pawl_internal.instance i
                    WHERE (i.state = :INSTANCE_ACTIVE AND i.lease_until_ms <= p_now OR i.leftovers) AND i.id IS DISTINCT FROM p_caller) THEN
        RETURN 0;
    END IF;
    FOR v_id IN SELECT i.id FROM pawl_internal.instance i
                 WHERE (i.state = :INSTANCE_ACTIVE AND i.lease_until_ms <= p_now OR i.leftovers) AND i.id IS DISTINCT FROM p_caller
                 ORDER BY i.id FOR UPDATE SKIP LOCKED LOOP
        v_count := v_count + pawl_internal.evict_one(v_id, p_now)::integer;
    END LOOP;
    RETURN v_count;
END
$$;

-- name: grants_settle
-- Gives back what the store has granted to an instance but the instance does not know of, without counting an attempt.
-- params: p_instance uuid; p_side smallint: 1 messages, 2 jobs, 3 checkpoints; p_tokens bigint[], p_numbers bigint[]: what is
--   held, the seq of a message, the id of a job (ignored for checkpoints); p_settled bigint: of the grants up to this token
--   those that are not listed are unknown to the holder; p_seen bigint: the highest token that the holder ever got
-- returns: released: how many; newest: the highest token among the side's grants that are left (0: none); epoch
-- raises: PW004 the instance is unknown, evicted or gone; PW001 seen is no token of this store
-- tables: instance, claim, message, aside, job_claim (read), those of epoch_follow, release, jobs_report; checkpoint (updated)
-- locks: those of epoch_follow, release and jobs_report, the checkpoints; nothing when the two agree. It goes with a heartbeat,
--   which does not wait: when a transaction holds one of them for longer, what is lost (messages: of this kind) is left to
--   the next call
CREATE OR REPLACE FUNCTION pawl_internal.grants_settle(
    p_instance uuid, p_side smallint, p_tokens bigint[], p_numbers bigint[], p_settled bigint, p_seen bigint,
    OUT released bigint, OUT newest bigint, OUT epoch bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET jit = off
SET lock_timeout = '50ms' AS $$
#variable_conflict use_column
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_lost record;
    v_answers smallint[];
BEGIN
    {{items p_tokens, p_numbers}}
    IF NOT EXISTS (SELECT 1 FROM pawl_internal.instance i WHERE i.id = p_instance AND i.state = :INSTANCE_ACTIVE) THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format('instance %s is evicted: drop everything and register again', p_instance);
    END IF;
    epoch := pawl_internal.epoch_follow(coalesce(p_seen, 0));
    released := 0;
    IF p_side = 1 THEN
        FOR v_lost IN
            SELECT c.kind, array_agg(c.token ORDER BY c.token, s.seq) AS tokens,
                   array_agg(coalesce(m.id, a.id) ORDER BY c.token, s.seq) AS ids
              FROM pawl_internal.claim_active c CROSS JOIN LATERAL unnest(pawl_internal.claim_seqs(c.claim)) AS s(seq)
              LEFT JOIN pawl_internal.message m ON m.kind = c.kind AND m.lane = c.lane AND m.seq = s.seq AND c.source = :SOURCE_MESSAGE
              LEFT JOIN pawl_internal.aside a ON a.kind = c.kind AND a.seq = s.seq AND c.source = :SOURCE_ASIDE
             WHERE c.instance = p_instance AND c.token <= p_settled
               AND NOT EXISTS (SELECT 1 FROM unnest(p_tokens, p_numbers) AS h(token, seq)
                                WHERE h.token = c.token AND h.seq = s.seq)
             GROUP BY c.kind ORDER BY c.kind LOOP
            BEGIN
                v_answers := pawl_internal.release(p_instance, v_lost.kind, v_lost.tokens, v_lost.ids, NULL);
                released := released + (SELECT count(*) FROM unnest(v_answers) AS r(answer) WHERE r.answer = :ANSWER_APPLIED);
            EXCEPTION WHEN lock_not_available THEN
                NULL;
            END;
        END LOOP;
        SELECT coalesce(max(c.token), 0) INTO newest FROM pawl_internal.claim_active c WHERE c.instance = p_instance;
    ELSIF p_side = 2 THEN
        SELECT array_agg(c.token ORDER BY c.token, u.id) AS tokens, array_agg(u.id ORDER BY c.token, u.id) AS ids,
               array_agg(4::smallint) AS outcomes, array_agg(0::bigint) AS delays INTO v_lost
          FROM pawl_internal.job_claim c CROSS JOIN LATERAL unnest(c.ids) AS u(id)
         WHERE c.instance = p_instance AND c.state = :CLAIM_ACTIVE AND c.token <= p_settled
           AND NOT EXISTS (SELECT 1 FROM unnest(p_tokens, p_numbers) AS h(token, id) WHERE h.token = c.token AND h.id = u.id);
        IF v_lost.ids IS NOT NULL THEN
            BEGIN
                SELECT r.answers INTO v_answers
                  FROM pawl_internal.jobs_report(p_instance, v_lost.tokens, v_lost.ids, v_lost.outcomes, NULL, v_lost.delays,
                                        v_lost.delays, NULL, NULL, NULL, NULL, NULL, NULL, NULL) r;
                released := (SELECT count(*) FROM unnest(v_answers) AS r(answer) WHERE r.answer = :ANSWER_APPLIED);
            EXCEPTION WHEN lock_not_available THEN
                NULL;
            END;
        END IF;
        SELECT coalesce(max(c.token), 0) INTO newest FROM pawl_internal.job_claim c WHERE c.instance = p_instance AND c.state = :CLAIM_ACTIVE;
    ELSE
        WITH lost AS (
            UPDATE pawl_internal.checkpoint c SET status = :CHECKPOINT_PENDING, instance = NULL, lease_until_ms = 0, due_ms = v_now, updated_ms = v_now
             WHERE (c.stream, c.perspective) IN (
                       SELECT o.stream, o.perspective FROM pawl_internal.checkpoint o
                        WHERE o.instance = p_instance AND o.token <= p_settled AND o.token <> ALL (coalesce(p_tokens, '{}'))
                          FOR UPDATE SKIP LOCKED)
            RETURNING 1)
        SELECT count(*) INTO released FROM lost;
        SELECT coalesce(max(c.token), 0) INTO newest FROM pawl_internal.checkpoint c WHERE c.instance = p_instance;
    END IF;
END
$$;

-- name: heartbeat
-- An instance says that it lives; its lanes are brought to its fair share.
-- params: p_id uuid, p_processed bigint (NULL or below 0: left as it is): messages and jobs that ended with it so far
-- returns: now_ms, lease_until_ms, lanes by kind (draining ones included), lanes taken and given, peers evicted, number of pauses and of
--   other active instances
-- raises: PW004 the instance is unknown, evicted or gone
-- tables: instance (updated), pause (read), those of epoch_check, epoch_follow, evict_silent, rebalance and pauses_settle
-- locks: those of epoch_check, its instance row, then those of epoch_follow, evict_silent, rebalance and pauses_settle
CREATE OR REPLACE FUNCTION pawl_internal.heartbeat(
    p_id uuid, p_processed bigint DEFAULT NULL, OUT now_ms bigint, OUT lease_until_ms bigint, OUT lanes_outbox integer,
    OUT lanes_inbox integer, OUT lanes_perspective integer, OUT taken integer, OUT given integer, OUT evicted integer,
    OUT pauses bigint, OUT others bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_kinds integer;
    v_moved record;
BEGIN
    PERFORM pawl_internal.epoch_check();
    UPDATE pawl_internal.instance i SET beat_ms = v_now, lease_until_ms = v_now + i.lease_ms, absent_since_ms = 0,
           processed = CASE WHEN p_processed >= 0 THEN p_processed ELSE i.processed END,
           horizon = greatest(i.horizon, pg_snapshot_xmax(pg_current_snapshot()))
     WHERE i.id = p_id AND i.state = :INSTANCE_ACTIVE
    RETURNING i.kinds, i.lease_until_ms INTO v_kinds, lease_until_ms;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format('instance %s is evicted: drop everything and register again', p_id);
    END IF;
    PERFORM pawl_internal.epoch_follow(0);
    now_ms := v_now;
    taken := 0;
    given := 0;
    evicted := CASE WHEN v_kinds & 14 <> 0 THEN pawl_internal.evict_silent(p_id, v_now) ELSE 0 END;
    FOR v_kind IN 1 .. :KIND_COUNT LOOP
        IF (v_kinds >> v_kind) & 1 = 1 THEN
            SELECT r.taken, r.given INTO v_moved FROM pawl_internal.rebalance(p_id, v_kind::smallint, v_now) r;
            taken := taken + v_moved.taken;
            given := given + v_moved.given;
        END IF;
    END LOOP;
    SELECT count(*) FILTER (WHERE l.kind = :KIND_OUTBOX), count(*) FILTER (WHERE l.kind = :KIND_INBOX), count(*) FILTER (WHERE l.kind = :KIND_PERSPECTIVE)
      INTO lanes_outbox, lanes_inbox, lanes_perspective
      FROM pawl_internal.lane l WHERE l.kind IN (:KIND_OUTBOX, :KIND_INBOX, :KIND_PERSPECTIVE) AND l.owner = p_id;
    PERFORM pawl_internal.pauses_settle(v_now);
    SELECT count(*) INTO pauses FROM pawl_internal.pause;
    SELECT count(*) INTO others FROM pawl_internal.instance i WHERE i.state = :INSTANCE_ACTIVE AND i.id <> p_id;
END
$$;

-- name: instance_deregister
-- An instance says goodbye: what it holds is released without an attempt, its id is never used again.
-- params: p_id uuid
-- raises: PW004 there is no such instance
-- tables: instance (deleted; updated while a transaction has a checkpoint of it), tombstone (inserted), those of instance_end
-- locks: its instance row, then its lanes and claims
CREATE OR REPLACE FUNCTION pawl_internal.instance_deregister(p_id uuid) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
BEGIN
    PERFORM 1 FROM pawl_internal.instance i WHERE i.id = p_id FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format('instance %s is not registered', p_id);
    END IF;
    IF NOT pawl_internal.instance_end(p_id, :CLAIM_DONE::smallint, true, v_now) THEN
        -- A transaction has locked a checkpoint of it: the next claim or beat takes it, as from an evicted one.
        UPDATE pawl_internal.instance i SET state = :INSTANCE_EVICTED, evicted_ms = v_now, leftovers = true WHERE i.id = p_id;
        RETURN;
    END IF;
    DELETE FROM pawl_internal.instance i WHERE i.id = p_id;
    INSERT INTO pawl_internal.tombstone (id, removed_ms) VALUES (p_id, v_now) ON CONFLICT (id) DO NOTHING;
END
$$;

-- name: instance_end
-- Frees the lanes and checkpoints of an instance, ends its active claims, and forgets that it wanted to be woken.
-- params: p_id uuid, p_how smallint: 4 evicted, 2 released (it said goodbye); p_wait: for what transactions hold, which is
--   left alone otherwise; p_now bigint
-- returns: whether nothing of it is left
-- tables: lane (updated), waiter (deleted), those of claim_end, jobs_instance_end and checkpoints_recover
-- locks: the lanes it owns or has claims on, then its claims, then those of jobs_instance_end, its checkpoints (skip locked),
--   then waiter
CREATE OR REPLACE FUNCTION pawl_internal.instance_end(p_id uuid, p_how smallint, p_wait boolean, p_now bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_kinds smallint[];
    v_lanes integer[];
    v_claim record;
    v_edge record;
    v_all boolean := true;
BEGIN
    IF p_wait THEN
        PERFORM 1 FROM pawl_internal.lane l
          WHERE l.owner = p_id
             OR EXISTS (SELECT 1 FROM pawl_internal.lane_claims(l.kind, l.lane) c WHERE c.instance = p_id)
          ORDER BY l.kind, l.lane FOR UPDATE;
        PERFORM 1 FROM pawl_internal.claim c
          WHERE c.token IN (SELECT a.token FROM pawl_internal.claim_active a WHERE a.instance = p_id) AND c.state = :CLAIM_ACTIVE
          ORDER BY c.token, c.part FOR UPDATE;
    END IF;
    SELECT array_agg(x.kind), array_agg(x.lane) INTO v_kinds, v_lanes
      FROM (SELECT l.kind, l.lane FROM pawl_internal.lane l
             WHERE l.owner = p_id
                OR EXISTS (SELECT 1 FROM pawl_internal.lane_claims(l.kind, l.lane) c WHERE c.instance = p_id)
             ORDER BY l.kind, l.lane FOR UPDATE SKIP LOCKED) x;
    UPDATE pawl_internal.lane l SET owner = NULL, draining = false
      FROM unnest(v_kinds, v_lanes) AS u(kind, lane) WHERE l.kind = u.kind AND l.lane = u.lane AND l.owner = p_id;
    SELECT e.token, e.seq INTO v_edge FROM pawl_internal.claim_edge(p_id) e;
    -- Only tokens of which every active part is ours: what follows an item in another part goes with it.
    FOR v_claim IN
        WITH locked AS MATERIALIZED (
            SELECT c.token, c.part FROM pawl_internal.claim c
             WHERE c.token IN (SELECT a.token FROM unnest(v_kinds, v_lanes) AS u(kind, lane)
                                CROSS JOIN LATERAL pawl_internal.lane_claims(u.kind, u.lane) a WHERE a.instance = p_id)
               AND c.state = :CLAIM_ACTIVE ORDER BY c.token, c.part FOR UPDATE OF c SKIP LOCKED)
        SELECT k.token, k.part FROM locked k
         WHERE (SELECT count(*) FROM locked n WHERE n.token = k.token)
               = (SELECT count(*) FROM pawl_internal.claim a WHERE a.token = k.token AND a.state = :CLAIM_ACTIVE)
         ORDER BY k.token, k.part LOOP
        BEGIN
            PERFORM pawl_internal.claim_end(v_claim.token, v_claim.part, p_how, v_edge.token, v_edge.seq, p_now);
        EXCEPTION WHEN lock_not_available THEN
            IF p_wait THEN
                RAISE;
            END IF;
            v_all := false; -- a transaction holds one of its streams; the next ones do not cost a beat as much again
            PERFORM set_config('lock_timeout', '1ms', true);
        END;
    END LOOP;
    BEGIN
        PERFORM pawl_internal.jobs_instance_end(p_id, p_how, p_now);
    EXCEPTION WHEN lock_not_available THEN
        IF p_wait THEN
            RAISE;
        END IF;
        v_all := false;
        PERFORM set_config('lock_timeout', '1ms', true);
    END;
    PERFORM pawl_internal.checkpoints_recover(p_id, p_now);
    v_all := v_all AND NOT EXISTS (SELECT 1 FROM pawl_internal.lane l WHERE l.owner = p_id)
             AND NOT EXISTS (SELECT 1 FROM pawl_internal.claim_active c WHERE c.instance = p_id)
             AND NOT EXISTS (SELECT 1 FROM pawl_internal.checkpoint c WHERE c.instance = p_id);
    IF v_all THEN
        DELETE FROM pawl_internal.waiter w WHERE w.instance = p_id;
    END IF;
    RETURN v_all;
END
$$;

-- name: deploy_label
-- What an instance says that it runs: the members version and pawl_version of its metadata (not "pawl": that name becomes the schema's).
-- params: p_metadata json (NULL: it says nothing)
-- returns: text; NULL when it does not say
CREATE OR REPLACE FUNCTION pawl_internal.deploy_label(p_metadata json) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT left(nullif(concat_ws(', ', 'version ' || (p_metadata ->> 'version'), 'pawl ' || (p_metadata ->> 'pawl_version')), ''), 200)
$$;

-- name: deploy_note
-- Notes a deploy: no other active instance of the service runs this, and its last deploy was of something else. So a
-- restart is none, however many instances there are, and going back to an older version is one.
-- params: p_id uuid: an instance that has just registered; p_service text, p_metadata json, p_now bigint
-- tables: instance (read), audit (read, inserted)
-- locks: an advisory lock of the deploys, the last lock of a call, and only where there seems to be one
CREATE OR REPLACE FUNCTION pawl_internal.deploy_note(p_id uuid, p_service text, p_metadata json, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_label text := pawl_internal.deploy_label(p_metadata);
BEGIN
    IF v_label IS NULL OR EXISTS (SELECT 1 FROM pawl_internal.instance i WHERE i.service = p_service AND i.state = :INSTANCE_ACTIVE
                                     AND i.id <> p_id AND pawl_internal.deploy_label(i.metadata) = v_label) THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext('deploys of pawl.'), hashtext(p_service));
    INSERT INTO pawl_internal.audit (at_ms, actor, action, detail)
    SELECT p_now, p_service, 'deploy', v_label
     WHERE v_label IS DISTINCT FROM (SELECT a.detail FROM pawl_internal.audit a WHERE a.action = 'deploy' AND a.actor = p_service
                                      ORDER BY a.number DESC LIMIT 1);
END
$$;

-- name: instance_evict
-- An operator evicts an instance, which learns of it at its next call.
-- params: p_id uuid
-- returns: nothing; evicting twice is fine
-- raises: PW002 there is no such instance
-- tables: instance (updated), those of evict_one
-- locks: its instance row, then those of instance_end, for which it waits 5 s at most
CREATE OR REPLACE FUNCTION pawl_internal.instance_evict(p_id uuid) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET jit = off SET lock_timeout = '5s' AS $$
DECLARE
    v_row record;
    v_now bigint := pawl_internal.now_ms();
BEGIN
    SELECT i.state, i.leftovers INTO v_row FROM pawl_internal.instance i WHERE i.id = p_id FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW002', MESSAGE = format('there is no instance %s', p_id);
    END IF;
    IF v_row.state = :INSTANCE_ACTIVE OR v_row.leftovers THEN
        PERFORM pawl_internal.instance_end(p_id, :CLAIM_EVICTED::smallint, true, v_now);
        UPDATE pawl_internal.instance i SET state = :INSTANCE_EVICTED, leftovers = false, evicted_ms = CASE WHEN i.state = :INSTANCE_ACTIVE THEN v_now ELSE i.evicted_ms END
         WHERE i.id = p_id;
    END IF;
END
$$;

-- name: instance_full
-- An instance says whether all its slots are busy; its lanes move with the next heartbeats.
-- params: p_id uuid, p_full boolean
-- raises: PW004 the instance is unknown, evicted or gone
-- tables: instance (updated)
-- locks: its instance row
CREATE OR REPLACE FUNCTION pawl_internal.instance_full(p_id uuid, p_full boolean) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    IF p_full IS NULL THEN
        PERFORM pawl_internal.refuse_null(ARRAY['full'], ARRAY[true]);
    END IF;
    UPDATE pawl_internal.instance i SET is_full = p_full WHERE i.id = p_id AND i.state = :INSTANCE_ACTIVE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format('instance %s is evicted: drop everything and register again', p_id);
    END IF;
END
$$;

-- name: instance_register
-- A new instance, with its share of the lanes of its kinds.
-- params: p_id uuid …, p_kinds integer (bit set), p_lease_ms (0: the schema's), p_max_partitions (0: no cap),
--   p_partition_count (0: whatever the schema has), p_slots: how many messages it works on at once, in the order
--   of the grant (0: it does not say, and is taken to work on one)
-- returns: now_ms, lease_until_ms, epoch, lanes_owned
-- raises: PW001 another partition count; PW003 the id exists or was used before
-- tables: instance (inserted), tombstone (read), those of epoch_check, epoch_follow, evict_silent, rebalance and deploy_note
-- locks: those of epoch_check and epoch_follow, its instance row, then those of evict_silent, rebalance and deploy_note
CREATE OR REPLACE FUNCTION pawl_internal.instance_register(
    p_id uuid, p_service text, p_host text, p_pid integer, p_metadata json, p_kinds integer, p_lease_ms bigint,
    p_max_partitions integer, p_partition_count integer, p_slots integer DEFAULT 0,
    OUT now_ms bigint, OUT lease_until_ms bigint, OUT epoch bigint, OUT lanes_owned integer)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_lease bigint;
    v_partitions integer;
BEGIN
    PERFORM pawl_internal.refuse_range('lease_ms', p_lease_ms, 0, 86400000);
    {{needs p_id, p_service, p_pid, p_kinds}}
    PERFORM pawl_internal.epoch_check();
    PERFORM pawl_internal.epoch_follow(0);
    SELECT CASE WHEN coalesce(p_lease_ms, 0) = 0 THEN s.instance_lease_ms ELSE p_lease_ms END, s.partition_count
      INTO v_lease, v_partitions FROM pawl_internal.settings s;
    IF coalesce(p_partition_count, 0) NOT IN (0, v_partitions) THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format(
            'partition_count is %s in this schema, not %s; it is fixed when the schema is made', v_partitions, p_partition_count);
    END IF;
    INSERT INTO pawl_internal.instance (id, service, host, pid, metadata, kinds, max_partitions, slots, lease_ms, started_ms, beat_ms,
                               lease_until_ms, horizon)
    VALUES (p_id, p_service, p_host, p_pid, p_metadata, p_kinds, coalesce(p_max_partitions, 0), coalesce(p_slots, 0), v_lease,
            v_now, v_now, v_now + v_lease, pg_snapshot_xmax(pg_current_snapshot()))
    ON CONFLICT (id) DO NOTHING;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW003', MESSAGE = format(
            'instance %s exists already; every start of a process needs a fresh id', p_id);
    END IF;
    -- After the insert: a row that was removed meanwhile has left its tombstone.
    IF EXISTS (SELECT 1 FROM pawl_internal.tombstone t WHERE t.id = p_id) THEN
        RAISE EXCEPTION USING ERRCODE = 'PW003', MESSAGE = format(
            'instance %s is gone for good; every start of a process needs a fresh id', p_id);
    END IF;
    IF p_kinds & 14 <> 0 THEN
        PERFORM pawl_internal.evict_silent(p_id, v_now);
    END IF;
    FOR v_kind IN 1 .. :KIND_COUNT LOOP
        IF (p_kinds >> v_kind) & 1 = 1 THEN
            PERFORM pawl_internal.rebalance(p_id, v_kind::smallint, v_now);
        END IF;
    END LOOP;
    PERFORM pawl_internal.deploy_note(p_id, p_service, p_metadata, v_now);
    now_ms := v_now;
    lease_until_ms := v_now + v_lease;
    epoch := pawl_internal.epoch_now();
    SELECT count(*) INTO lanes_owned FROM pawl_internal.lane l WHERE l.kind IN (:KIND_OUTBOX, :KIND_INBOX, :KIND_PERSPECTIVE) AND l.owner = p_id;
END
$$;

-- name: liveness_class
-- The advisory lock class of this schema's liveness locks.
-- returns: integer, different for two schemas of one database
CREATE OR REPLACE FUNCTION pawl_internal.liveness_class() RETURNS integer
LANGUAGE sql STABLE AS $$
    SELECT hashtext('liveness of pawl.')
$$;

-- name: liveness_hold
-- Takes the liveness lock of an instance on this session, for as long as the session lives.
-- params: p_id uuid
-- returns: true when the lock is held
-- raises: PW004 the instance is evicted
-- tables: instance (updated: the number of its lock)
-- locks: a session-level advisory lock (class: the schema's hash, object: lock_no)
CREATE OR REPLACE FUNCTION pawl_internal.liveness_hold(p_id uuid) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_no integer;
BEGIN
    SELECT i.lock_no INTO v_no FROM pawl_internal.instance i WHERE i.id = p_id AND i.state = :INSTANCE_ACTIVE FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format('instance %s is evicted: drop everything and register again', p_id);
    END IF;
    IF v_no = 0 THEN
        v_no := nextval('pawl_internal.lock_seq')::integer;
    END IF;
    IF NOT pg_try_advisory_lock(pawl_internal.liveness_class(), v_no) THEN
        RETURN false;
    END IF;
    UPDATE pawl_internal.instance i SET lock_no = v_no, absent_since_ms = 0 WHERE i.id = p_id;
    RETURN true;
END
$$;

-- name: peers_look
-- Evicts peers whose lease has expired, and those whose liveness lock has been gone for 300 ms.
-- params: p_id uuid: the caller
-- returns: evicted: how many; rebalance_wanted: a lane is free that the caller would take; believe_ms: until the first
--   peer whose lock is gone is believed to be dead (0: it is due, another caller is evicting it; -1: no lock is gone)
-- raises: PW004 the caller is evicted
-- tables: instance (updated), those of evict_one; lane, settings (read)
-- locks: the peers concerned (skip locked), then those of evict_one; nothing is written when every lock is there
CREATE OR REPLACE FUNCTION pawl_internal.peers_look(
    p_id uuid, OUT evicted integer, OUT rebalance_wanted boolean, OUT believe_ms bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET jit = off SET lock_timeout = '50ms' AS $$
#variable_conflict use_column
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_kinds integer;
    v_lease bigint;
    v_held integer[];
    v_peer record;
    v_kind smallint;
BEGIN
    rebalance_wanted := false;
    believe_ms := -1;
    SELECT i.kinds, i.lease_ms INTO v_kinds, v_lease FROM pawl_internal.instance i WHERE i.id = p_id AND i.state = :INSTANCE_ACTIVE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = format('instance %s is evicted: drop everything and register again', p_id);
    END IF;
    evicted := pawl_internal.evict_silent(p_id, v_now);
    -- After a server start no instance has had time to take its lock again, nor on a server that took over: a promoted standby has
    -- run for long. A stopped clock knows nothing of server starts.
    IF EXISTS (SELECT 1 FROM pawl_internal.instance i WHERE i.lock_no > 0 AND i.state = :INSTANCE_ACTIVE AND i.id <> p_id)
       AND (clock_timestamp() > pg_postmaster_start_time() + v_lease * interval '1 millisecond'
            OR EXISTS (SELECT 1 FROM pawl_internal.settings s WHERE s.test_now_ms <> 0))
       AND EXISTS (SELECT 1 FROM pawl_internal.settings s WHERE s.timeline = left(pg_walfile_name(pg_current_wal_lsn()), 8)
                      AND (s.epoch_cause IN (0, 1) OR v_now >= s.epoch_ms + v_lease)) THEN
        v_held := ARRAY(SELECT k.objid::bigint::integer FROM pg_locks k
                         WHERE k.locktype = 'advisory' AND k.objsubid = 2 AND k.granted
                           AND k.classid::bigint = pawl_internal.liveness_class()::bigint & 4294967295
                           AND k.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()));
        FOR v_peer IN SELECT i.id, i.absent_since_ms, i.lock_no = ANY (v_held) AS held FROM pawl_internal.instance i
                       WHERE i.lock_no > 0 AND i.state = :INSTANCE_ACTIVE AND i.id <> p_id
                         AND (i.lock_no <> ALL (v_held) OR i.absent_since_ms <> 0)
                       ORDER BY i.id FOR UPDATE SKIP LOCKED LOOP
            IF v_peer.held THEN
                UPDATE pawl_internal.instance i SET absent_since_ms = 0 WHERE i.id = v_peer.id;
            ELSIF v_peer.absent_since_ms = 0 THEN
                UPDATE pawl_internal.instance i SET absent_since_ms = v_now WHERE i.id = v_peer.id;
            ELSIF v_now - v_peer.absent_since_ms >= 300 THEN
                evicted := evicted + pawl_internal.evict_one(v_peer.id, v_now)::integer;
            END IF;
        END LOOP;
        SELECT greatest(0, min(i.absent_since_ms) + 300 - v_now) INTO believe_ms FROM pawl_internal.instance i
         WHERE i.lock_no > 0 AND i.state = :INSTANCE_ACTIVE AND i.id <> p_id AND i.absent_since_ms <> 0
        HAVING count(*) > 0;
        believe_ms := coalesce(believe_ms, -1);
    END IF;
    FOR v_kind IN SELECT DISTINCT l.kind FROM pawl_internal.lane l WHERE l.kind IN (:KIND_OUTBOX, :KIND_INBOX, :KIND_PERSPECTIVE) AND l.owner IS NULL
                     AND (v_kinds >> l.kind) & 1 = 1 LOOP
        rebalance_wanted := rebalance_wanted OR coalesce(
            (SELECT q.owned < q.quota FROM pawl_internal.lane_share(p_id, v_kind, v_now) q), false);
    END LOOP;
END
$$;

-- name: view_duties
-- The duties and their holders.
-- returns: one row per duty that is held, by name
-- tables: duty (read)
CREATE OR REPLACE FUNCTION pawl_internal.view_duties() RETURNS TABLE (
    name text, instance uuid, token bigint, lease_until_ms bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 8 AS $$
BEGIN
    RETURN QUERY SELECT d.name, d.instance, d.token, d.lease_until_ms
      FROM pawl_internal.duty d WHERE d.lease_until_ms > pawl_internal.now_ms() ORDER BY d.name;
END
$$;

-- name: view_instances
-- Every instance with its age, lanes and work in flight.
-- returns: one row per instance, by id
-- tables: instance, lane, claim, job_claim (read)
CREATE OR REPLACE FUNCTION pawl_internal.view_instances() RETURNS TABLE (
    id uuid, service text, host text, metadata json, pid integer, kinds integer, state integer, started_ms bigint,
    beat_ms bigint, lease_until_ms bigint, beat_age_ms bigint, lanes_outbox integer, lanes_inbox integer,
    lanes_perspective integer, claims integer, in_flight integer, processed bigint, jobs integer)
LANGUAGE sql VOLATILE SECURITY DEFINER ROWS 10
SET jit = off AS $$
    SELECT i.id, i.service, i.host, i.metadata, i.pid, i.kinds, i.state::integer, i.started_ms, i.beat_ms,
           i.lease_until_ms, k.now_ms - i.beat_ms, coalesce(l.outbox, 0)::integer, coalesce(l.inbox, 0)::integer,
           coalesce(l.perspective, 0)::integer, coalesce(c.claims, 0)::integer, coalesce(c.in_flight, 0)::integer,
           i.processed, coalesce(j.jobs, 0)::integer
      FROM pawl_internal.instance i CROSS JOIN (SELECT pawl_internal.now_ms() AS now_ms OFFSET 0) k
      LEFT JOIN (SELECT x.owner, count(*) FILTER (WHERE x.kind = :KIND_OUTBOX) AS outbox, count(*) FILTER (WHERE x.kind = :KIND_INBOX) AS inbox,
                        count(*) FILTER (WHERE x.kind = :KIND_PERSPECTIVE) AS perspective
                   FROM pawl_internal.lane x GROUP BY x.owner) l ON l.owner = i.id
      LEFT JOIN (SELECT x.instance, count(*) AS claims, sum(coalesce(cardinality(x.seqs), x.items)) AS in_flight
                   FROM pawl_internal.claim_active x GROUP BY x.instance) c ON c.instance = i.id
      LEFT JOIN (SELECT x.instance, sum(cardinality(x.ids)) AS jobs
                   FROM pawl_internal.job_claim x WHERE x.state = :CLAIM_ACTIVE GROUP BY x.instance) j ON j.instance = i.id
     ORDER BY i.id
$$;
