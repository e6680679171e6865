-- alert: alert rules, their changes, and the notices about them; and series, what happened over the last 30 days.

-- name: alert_changes
-- What happened to the rules, the latest first, with what became of its deliveries.
-- params: p_rule text (NULL: all), p_before bigint (0: from the latest), p_limit integer
-- returns: one row each; the error of a delivery only for callers that may see payloads
-- tables: alert_change, alert_notice (read)
CREATE OR REPLACE FUNCTION pawl_internal.alert_changes(p_rule text, p_before bigint, p_limit integer) RETURNS TABLE (
    number bigint, id uuid, rule text, event smallint, value bigint, at_ms bigint, detail text, waiting bigint, delivered bigint,
    failed bigint, error text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 100 AS $$
BEGIN
    PERFORM pawl_internal.refuse_range('limit', p_limit, 0, 1000000);
    RETURN QUERY
    SELECT c.number, c.id, c.rule, c.event, c.value, c.at_ms, c.detail,
           (SELECT count(*) FROM pawl_internal.alert_notice n WHERE n.change = c.id AND n.state = :NOTICE_WAITING),
           (SELECT count(*) FROM pawl_internal.alert_notice n WHERE n.change = c.id AND n.state = :NOTICE_DELIVERED),
           (SELECT count(*) FROM pawl_internal.alert_notice n WHERE n.change = c.id AND n.state = :NOTICE_GIVEN_UP),
           (SELECT CASE WHEN pawl_internal.payloads_shown() THEN n.error END FROM pawl_internal.alert_notice n WHERE n.change = c.id AND n.error IS NOT NULL ORDER BY n.number DESC LIMIT 1)
      FROM pawl_internal.alert_change c
     WHERE (p_rule IS NULL OR c.rule = p_rule) AND (p_before = 0 OR c.number < p_before) ORDER BY c.number DESC LIMIT p_limit;
END
$$;

-- name: alert_notice_end
-- The outcome of a delivery, reported by its holder.
-- params: p_number bigint, p_token bigint, p_state smallint (1 again later, 2 delivered, 3 given up), p_delay_ms bigint, p_error text
-- raises: PW004 another caller has it
-- tables: alert_notice (updated)
-- locks: its row
CREATE OR REPLACE FUNCTION pawl_internal.alert_notice_end(p_number bigint, p_token bigint, p_state smallint, p_delay_ms bigint, p_error text)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    UPDATE pawl_internal.alert_notice n SET state = p_state, due_ms = pawl_internal.now_ms() + p_delay_ms, error = p_error, token = 0
     WHERE n.number = p_number AND n.token = p_token AND n.state = :NOTICE_WAITING;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = 'the delivery is no longer ours';
    END IF;
END
$$;

-- name: alert_notices_take
-- Deliveries to a target that are due and not leased; the caller gets a lease on them.
-- params: p_target text, p_lease_ms bigint, p_limit integer
-- returns: one row each, by number
-- tables: alert_notice (updated), alert_change (read)
-- locks: the rows it returns; rows that another caller is taking are skipped
CREATE OR REPLACE FUNCTION pawl_internal.alert_notices_take(p_target text, p_lease_ms bigint, p_limit integer) RETURNS TABLE (
    notice bigint, token bigint, attempts integer, number bigint, id uuid, rule text, event smallint, value bigint, at_ms bigint,
    detail text, now_ms bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 8 AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_token bigint := 0;
BEGIN
    IF EXISTS (SELECT 1 FROM pawl_internal.alert_notice n WHERE n.state = :NOTICE_WAITING AND n.target = p_target AND n.due_ms <= v_now) THEN
        v_token := pawl_internal.token_next();
        RETURN QUERY
        WITH due AS MATERIALIZED (
            SELECT n.number FROM pawl_internal.alert_notice n WHERE n.state = :NOTICE_WAITING AND n.target = p_target AND n.due_ms <= v_now
             ORDER BY n.number LIMIT p_limit FOR UPDATE SKIP LOCKED),
        mine AS (
            UPDATE pawl_internal.alert_notice n SET token = v_token, due_ms = v_now + p_lease_ms, attempts = n.attempts + 1
              FROM due WHERE n.number = due.number RETURNING n.number, n.attempts, n.change)
        SELECT m.number, v_token, m.attempts, c.number, c.id, c.rule, c.event, c.value, c.at_ms, c.detail, v_now
          FROM mine m JOIN pawl_internal.alert_change c ON c.id = m.change ORDER BY m.number;
    END IF;
END
$$;

-- name: alert_pressure
-- How many of the connections are in use, in percent.
-- returns: 0 … 100
-- tables: none; pg_stat_activity
CREATE OR REPLACE FUNCTION pawl_internal.alert_pressure() RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    RETURN (SELECT count(*) * 100 / greatest(1, current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint)
              FROM pg_stat_activity a WHERE a.backend_type = 'client backend');
END
$$;

-- name: alert_rule_put
-- Makes or changes a rule; its state stays.
-- params: the columns; p_version: the expected one, 0 = any; p_rules_max
-- returns: the new version
-- raises: PW003 the rule has another version, or there are too many rules
-- tables: alert_rule (inserted, updated), alert_turn (locked)
-- locks: the turn, so that no evaluation sees half of it
CREATE OR REPLACE FUNCTION pawl_internal.alert_rule_put(
    p_name text, p_metric text, p_summary text, p_targets text, p_side smallint, p_severity smallint, p_threshold bigint,
    p_clear_threshold bigint, p_for_ms bigint, p_clear_ms bigint, p_enabled boolean, p_version bigint, p_rules_max integer) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_version bigint;
BEGIN
    PERFORM 1 FROM pawl_internal.alert_turn t FOR UPDATE;
    SELECT r.version INTO v_version FROM pawl_internal.alert_rule r WHERE r.name = p_name FOR UPDATE;
    IF p_version <> 0 AND p_version IS DISTINCT FROM v_version THEN
        RAISE EXCEPTION USING ERRCODE = 'PW003', MESSAGE = 'the rule has another version; read it again';
    END IF;
    IF v_version IS NULL AND (SELECT count(*) FROM pawl_internal.alert_rule) >= p_rules_max THEN
        RAISE EXCEPTION USING ERRCODE = 'PW003', MESSAGE = 'there are as many rules as there may be; remove one';
    END IF;
    v_version := coalesce(v_version, 0) + 1;
    INSERT INTO pawl_internal.alert_rule AS r (name, metric, summary, targets, side, severity, threshold, clear_threshold, for_ms, clear_ms,
                                      enabled, version, updated_ms)
    VALUES (p_name, p_metric, p_summary, p_targets, p_side, p_severity, p_threshold, p_clear_threshold, p_for_ms, p_clear_ms,
            p_enabled, v_version, pawl_internal.now_ms())
        ON CONFLICT (name) DO UPDATE SET metric = excluded.metric, summary = excluded.summary, targets = excluded.targets,
           side = excluded.side, severity = excluded.severity, threshold = excluded.threshold,
           clear_threshold = excluded.clear_threshold, for_ms = excluded.for_ms, clear_ms = excluded.clear_ms,
           enabled = excluded.enabled, version = excluded.version, updated_ms = excluded.updated_ms;
    RETURN v_version;
END
$$;

-- name: alert_rule_remove
-- Removes a rule; its history stays.
-- params: p_name text
-- raises: PW002 there is none
-- tables: alert_rule (deleted)
-- locks: the rule's row
CREATE OR REPLACE FUNCTION pawl_internal.alert_rule_remove(p_name text) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    {{needs p_name}}
    DELETE FROM pawl_internal.alert_rule r WHERE r.name = p_name;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW002', MESSAGE = 'there is no rule ' || p_name;
    END IF;
END
$$;

-- name: alert_rules
-- The rules by name, or one of them.
-- params: p_name text (NULL: all)
-- returns: one row each, and the time
-- tables: alert_rule (read)
CREATE OR REPLACE FUNCTION pawl_internal.alert_rules(p_name text) RETURNS TABLE (
    name text, metric text, summary text, targets text, side smallint, severity smallint, threshold bigint, clear_threshold bigint,
    for_ms bigint, clear_ms bigint, enabled boolean, version bigint, updated_ms bigint, phase smallint, since_ms bigint, turning_ms bigint,
    told boolean, value bigint, silence_until_ms bigint, silence_reason text, silence_by text, now_ms bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 20 AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
BEGIN
    RETURN QUERY SELECT r.name, r.metric, r.summary, r.targets, r.side, r.severity, r.threshold, r.clear_threshold, r.for_ms, r.clear_ms, r.enabled,
               r.version, r.updated_ms, r.phase, r.since_ms, r.turning_ms, r.told, r.value, r.silence_until_ms, r.silence_reason, r.silence_by, v_now
          FROM pawl_internal.alert_rule r WHERE p_name IS NULL OR r.name = p_name ORDER BY r.name;
END
$$;

-- name: alert_silence
-- A rule is silent until then; 0 takes it back.
-- params: p_name text, p_until_ms bigint, p_reason text, p_actor text
-- raises: PW002 there is no such rule
-- tables: alert_rule (updated)
-- locks: the rule's row
CREATE OR REPLACE FUNCTION pawl_internal.alert_silence(p_name text, p_until_ms bigint, p_reason text, p_actor text) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    {{needs p_name}}
    UPDATE pawl_internal.alert_rule r SET silence_until_ms = p_until_ms, silence_reason = p_reason, silence_by = p_actor WHERE r.name = p_name;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW002', MESSAGE = 'there is no rule ' || p_name;
    END IF;
END
$$;

-- name: alert_tell
-- Notes what happened to rules, and what has to be delivered.
-- params: one array each of the changes, then of the deliveries
-- tables: alert_change, alert_notice (inserted)
CREATE OR REPLACE FUNCTION pawl_internal.alert_tell(
    p_ids uuid[], p_rules text[], p_events smallint[], p_values bigint[], p_details text[], p_changes uuid[], p_targets text[]) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
BEGIN
    {{items p_ids, p_rules, p_events, p_values, p_details}}
    {{items p_changes, p_targets}}
    INSERT INTO pawl_internal.alert_change (id, rule, event, value, at_ms, detail)
    SELECT c.id, c.rule, c.event, c.value, v_now, c.detail
      FROM unnest(p_ids, p_rules, p_events, p_values, p_details) WITH ORDINALITY AS c (id, rule, event, value, detail, n) ORDER BY c.n;
    INSERT INTO pawl_internal.alert_notice (change, target, due_ms)
    SELECT d.change, d.target, v_now FROM unnest(p_changes, p_targets) WITH ORDINALITY AS d (change, target, n) ORDER BY d.n;
END
$$;

-- name: alert_turn_end
-- Writes what an evaluation found, unless a later turn was given or a rule was changed.
-- params: p_token bigint, p_window text, then one array each of the verdicts
-- raises: PW004 a later turn was given; PW003 a rule was changed meanwhile
-- tables: alert_turn, alert_rule (updated), alert_change, alert_notice (old rows deleted), those of series_look
-- locks: the turn, the rules' rows, those of series_look
CREATE OR REPLACE FUNCTION pawl_internal.alert_turn_end(
    p_token bigint, p_window text, p_rules text[], p_versions bigint[], p_phases smallint[], p_since_ms bigint[], p_turning_ms bigint[],
    p_told boolean[], p_values bigint[], p_keep_ms bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_count bigint;
BEGIN
    {{items p_rules, p_versions, p_phases, p_since_ms, p_turning_ms, p_told, p_values}}
    UPDATE pawl_internal.alert_turn t SET window_text = p_window WHERE t.token = p_token;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = 'another turn was given meanwhile';
    END IF;
    UPDATE pawl_internal.alert_rule r
       SET phase = v.phase, since_ms = v.since_ms, turning_ms = v.turning_ms, told = v.told, value = v.value
      FROM unnest(p_rules, p_versions, p_phases, p_since_ms, p_turning_ms, p_told, p_values)
           AS v (name, version, phase, since_ms, turning_ms, told, value)
     WHERE r.name = v.name AND r.version = v.version;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count <> coalesce(cardinality(p_rules), 0) THEN
        RAISE EXCEPTION USING ERRCODE = 'PW003', MESSAGE = 'a rule was changed while it was evaluated';
    END IF;
    WITH old AS (
        DELETE FROM pawl_internal.alert_change c
         WHERE c.number IN (SELECT o.number FROM pawl_internal.alert_change o WHERE o.at_ms < pawl_internal.now_ms() - p_keep_ms ORDER BY o.number LIMIT 1000)
     RETURNING c.id)
    DELETE FROM pawl_internal.alert_notice n USING old WHERE n.change = old.id;
    PERFORM pawl_internal.series_look(); -- what waits is seen although nobody works
END
$$;

-- name: alert_turn_take
-- Gives the turn to evaluate the rules, once per interval, to the first caller.
-- params: p_interval_ms bigint
-- returns: taken, token (0 when not taken), now_ms, next_ms, window_text; due: whether something is to be delivered
-- tables: alert_turn (updated), alert_notice (read)
-- locks: the turn
CREATE OR REPLACE FUNCTION pawl_internal.alert_turn_take(
    p_interval_ms bigint, OUT taken boolean, OUT token bigint, OUT now_ms bigint, OUT next_ms bigint, OUT window_text text,
    OUT due boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_turn pawl_internal.alert_turn%ROWTYPE;
BEGIN
    {{needs p_interval_ms}}
    PERFORM pawl_internal.refuse_range('interval_ms', p_interval_ms, 0, 86400000);
    -- Most callers are early: they return without a lock.
    SELECT t.* INTO v_turn FROM pawl_internal.alert_turn t;
    now_ms := pawl_internal.now_ms();
    -- A clock that was set back, or a caller with a longer interval, does not stop the evaluation.
    IF v_turn.next_ms <= now_ms OR v_turn.next_ms > now_ms + 2 * p_interval_ms THEN
        SELECT t.* INTO v_turn FROM pawl_internal.alert_turn t FOR UPDATE;
        now_ms := pawl_internal.now_ms();
    END IF;
    taken := v_turn.next_ms <= now_ms OR v_turn.next_ms > now_ms + 2 * p_interval_ms;
    token := 0;
    next_ms := v_turn.next_ms;
    window_text := v_turn.window_text;
    due := EXISTS (SELECT 1 FROM pawl_internal.alert_notice n WHERE n.state = :NOTICE_WAITING AND n.due_ms <= alert_turn_take.now_ms);
    IF taken THEN
        token := pawl_internal.token_next();
        next_ms := now_ms + p_interval_ms;
        UPDATE pawl_internal.alert_turn t SET token = alert_turn_take.token, next_ms = alert_turn_take.next_ms;
    END IF;
END
$$;

-- name: series_fold
-- Replaces points that are too old for their step by their sums in the next longer one, and removes those of the longest; the
-- highest stays the highest. Nothing is counted twice or lost: a point is in one row at a time.
-- params: p_now bigint
-- tables: series_point (written), series (deleted when their last points are)
-- locks: the points that are folded (skip locked); the lock of the names when one is removed, never waiting for it
CREATE OR REPLACE FUNCTION pawl_internal.series_fold(p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_from integer;
    v_to integer;
    v_before bigint;
BEGIN
    FOR v_from, v_to, v_before IN
        SELECT f.step_ms, f.to_ms, least(f.before_ms, f.first_ms - f.first_ms % f.to_ms + :SERIES_FOLD_STEPS::bigint * f.to_ms)
          FROM (SELECT r.step_ms, r.to_ms, (p_now - r.kept_ms) / r.to_ms * r.to_ms AS before_ms,
                       (SELECT min((SELECT min(p.at_ms) FROM pawl_internal.series_point p WHERE p.step_ms = r.step_ms AND p.series = s.id))
                          FROM pawl_internal.series s) AS first_ms
                  FROM (VALUES (:SERIES_STEP_MS, :SERIES_MINUTE_MS, :SERIES_STEP_KEPT_MS::bigint),
                               (:SERIES_MINUTE_MS, :SERIES_QUARTER_MS, :SERIES_MINUTE_KEPT_MS::bigint),
                               (:SERIES_QUARTER_MS, :SERIES_QUARTER_MS, 2592000000)) r (step_ms, to_ms, kept_ms)) f
         WHERE f.first_ms < f.before_ms ORDER BY f.step_ms LOOP
        WITH gone AS (
            DELETE FROM pawl_internal.series_point p
             WHERE p.ctid = ANY (ARRAY(SELECT o.ctid FROM pawl_internal.series s
                                         JOIN pawl_internal.series_point o ON o.step_ms = v_from AND o.series = s.id AND o.at_ms < v_before
                                        ORDER BY o.at_ms, o.series FOR UPDATE OF o SKIP LOCKED)) RETURNING p.*)
        INSERT INTO pawl_internal.series_point AS p (step_ms, at_ms, series, ready, dead, oldest_age_ms, {{point}})
        SELECT v_to, g.at_ms - g.at_ms % v_to, g.series, max(g.ready), max(g.dead), max(g.oldest_age_ms), {{each point: sum(g.@)}}
          FROM gone g WHERE v_to > v_from GROUP BY 2, 3 ORDER BY 2, 3
        ON CONFLICT (step_ms, series, at_ms) DO UPDATE
           SET ready = greatest(p.ready, excluded.ready), dead = greatest(p.dead, excluded.dead),
               oldest_age_ms = greatest(p.oldest_age_ms, excluded.oldest_age_ms),
               {{each point: @ = coalesce(p.@ + excluded.@, p.@, excluded.@)}};
        IF v_from = v_to AND pawl_internal.series_lock(false) THEN
            DELETE FROM pawl_internal.series s WHERE s.id NOT IN (SELECT p.series FROM pawl_internal.series_point p);
        END IF;
    END LOOP;
END
$$;

-- name: series_ids
-- The series of these names. A name that is new gets one, unless its scope has as many as there may be: then it shares the one
-- without a name.
-- params: arrays of one length
-- returns: an id each
-- tables: series (written)
-- locks: when a name is new, the lock of the names
CREATE OR REPLACE FUNCTION pawl_internal.series_ids(p_scopes int[], p_kinds int[], p_names text[]) RETURNS integer[]
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF EXISTS (SELECT FROM unnest(p_scopes, p_kinds, p_names) AS u(scope, kind, name)
                WHERE NOT EXISTS (SELECT FROM pawl_internal.series s WHERE s.scope = u.scope AND s.kind = u.kind AND s.name = u.name)
                  AND (u.name = '' OR (SELECT count(*) < :SERIES_NAMES_MAX OR NOT bool_or(s.name = '') FROM pawl_internal.series s
                                        WHERE s.scope = u.scope))) THEN
        PERFORM pawl_internal.series_lock(true);
        INSERT INTO pawl_internal.series (scope, kind, name)
        SELECT DISTINCT n.scope, CASE WHEN n.fits THEN n.kind ELSE 0 END, CASE WHEN n.fits THEN n.name ELSE '' END
          FROM (SELECT u.scope, u.kind, u.name,
                       u.name = '' OR dense_rank() OVER (PARTITION BY u.scope ORDER BY u.kind, u.name) +
                           (SELECT count(*) FROM pawl_internal.series s WHERE s.scope = u.scope) <= :SERIES_NAMES_MAX AS fits
                  FROM unnest(p_scopes, p_kinds, p_names) AS u(scope, kind, name)
                 WHERE NOT EXISTS (SELECT FROM pawl_internal.series s WHERE s.scope = u.scope AND s.kind = u.kind AND s.name = u.name)) n
        ON CONFLICT (scope, kind, name) DO NOTHING;
    END IF;
    RETURN ARRAY(SELECT coalesce((SELECT s.id FROM pawl_internal.series s WHERE s.scope = u.scope AND s.kind = u.kind AND s.name = u.name),
                                 (SELECT s.id FROM pawl_internal.series s WHERE s.scope = u.scope AND s.kind = 0 AND s.name = ''))
                   FROM unnest(p_scopes, p_kinds, p_names) WITH ORDINALITY AS u(scope, kind, name, place) ORDER BY u.place);
END
$$;

-- name: series_lock
-- One transaction at a time adds names or looks.
-- params: p_wait boolean: callers that have locked rows must not wait
-- returns: whether it is held, until the end of the transaction
CREATE OR REPLACE FUNCTION pawl_internal.series_lock(p_wait boolean) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_key constant bigint := hashtextextended('series of pawl.', 0);
BEGIN
    IF p_wait THEN
        PERFORM pg_advisory_xact_lock(v_key);
        RETURN true;
    END IF;
    RETURN pg_try_advisory_xact_lock(v_key);
END
$$;

-- name: series_look
-- Writes down how much of each kind and queue waits, how old the oldest is, and how many dead letters there are: once per step,
-- by whoever comes first, and only of what waits or has changed, so nothing is written while nothing happens.
-- tables: series_point, series (written), those of view_counts and job_counts (read)
-- locks: the points of this step; the lock of the names, never waiting for it
CREATE OR REPLACE FUNCTION pawl_internal.series_look() RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_at bigint := v_now - v_now % :SERIES_STEP_MS;
    v_ids integer[];
    v_ready bigint[];
    v_dead bigint[];
    v_ages bigint[];
BEGIN
    IF EXISTS (SELECT FROM pawl_internal.series s
                 JOIN pawl_internal.series_point p ON p.step_ms = :SERIES_STEP_MS AND p.series = s.id AND p.at_ms = v_at AND p.ready IS NOT NULL)
       OR NOT pawl_internal.series_lock(false) THEN
        RETURN;
    END IF;
    WITH queues AS MATERIALIZED (SELECT j.queue, j.ready, j.dead, j.oldest_ready_ms FROM pawl_internal.job_counts() j),
    seen AS (
        SELECT :SERIES_KIND AS scope, c.kind::int AS kind, '' AS name, c.ready, c.dead, c.oldest_ready_ms FROM pawl_internal.view_counts() c
         UNION ALL
        SELECT :SERIES_KIND, :ROLLUP_JOB, '', sum(q.ready)::bigint, sum(q.dead)::bigint, min(nullif(q.oldest_ready_ms, 0)) FROM queues q
         HAVING count(*) > 0
         UNION ALL
        SELECT :SERIES_QUEUE, :ROLLUP_JOB, q.queue, q.ready, q.dead, q.oldest_ready_ms FROM queues q),
    worth AS (
        SELECT w.scope, w.kind, w.name, w.ready, w.dead, CASE WHEN w.oldest_ready_ms > 0 THEN greatest(v_now - w.oldest_ready_ms, 0) ELSE 0 END AS age
          FROM seen w WHERE w.ready > 0 OR w.dead > 0
         UNION ALL -- what has nothing any more
        SELECT s.scope, s.kind, s.name, 0, 0, 0 FROM pawl_internal.series s WHERE s.scope IN (:SERIES_KIND, :SERIES_QUEUE))
    SELECT pawl_internal.series_ids(array_agg(w.scope), array_agg(w.kind), array_agg(w.name)), array_agg(w.ready), array_agg(w.dead), array_agg(w.age)
      INTO v_ids, v_ready, v_dead, v_ages FROM worth w;
    WITH looked AS (
        SELECT u.id, sum(u.ready)::bigint AS ready, sum(u.dead)::bigint AS dead, max(u.age) AS age
          FROM unnest(v_ids, v_ready, v_dead, v_ages) AS u(id, ready, dead, age) GROUP BY u.id),
    changed AS (
        UPDATE pawl_internal.series s SET ready = l.ready, dead = l.dead FROM looked l
         WHERE s.id = l.id AND (s.ready <> l.ready OR s.dead <> l.dead) RETURNING s.id)
    INSERT INTO pawl_internal.series_point AS p (step_ms, at_ms, series, ready, dead, oldest_age_ms)
    SELECT :SERIES_STEP_MS, v_at, l.id, l.ready, l.dead, l.age
      FROM looked l WHERE l.ready > 0 OR l.id IN (SELECT c.id FROM changed c) ORDER BY l.id
    ON CONFLICT (step_ms, series, at_ms) DO UPDATE
       SET ready = greatest(p.ready, excluded.ready), dead = greatest(p.dead, excluded.dead),
           oldest_age_ms = greatest(p.oldest_age_ms, excluded.oldest_age_ms);
END
$$;

-- name: series_points_add
-- Adds what a worker has counted to the points of this step, then looks.
-- params: p_points json: an array of objects with scope, kind, name, and those columns of a point that are not 0
-- tables: series_point, series (written)
-- locks: the lock of the names when one is new, then the points in the order of their series
CREATE OR REPLACE FUNCTION pawl_internal.series_points_add(p_points json) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_ids integer[];
BEGIN
    {{needs p_points}}
    SELECT pawl_internal.series_ids(array_agg(u.scope ORDER BY u.place), array_agg(u.kind ORDER BY u.place), array_agg(u.name ORDER BY u.place))
      INTO v_ids
      FROM ROWS FROM (json_to_recordset(p_points) AS (scope integer, kind integer, name text)) WITH ORDINALITY AS u(scope, kind, name, place);
    INSERT INTO pawl_internal.series_point AS p (step_ms, at_ms, series, {{point}})
    SELECT :SERIES_STEP_MS, v_now - v_now % :SERIES_STEP_MS, v_ids[u.place], {{each point: sum(u.@)}}
      FROM ROWS FROM (json_to_recordset(p_points) AS ({{types point}})) WITH ORDINALITY AS u({{point}}, place)
     GROUP BY 3 ORDER BY 3
    ON CONFLICT (step_ms, series, at_ms) DO UPDATE SET {{each point: @ = coalesce(p.@ + excluded.@, p.@, excluded.@)}};
    PERFORM pawl_internal.series_look();
END
$$;

-- name: view_series
-- The points of a range, summed up in steps, and once each series as it was seen last.
-- params: p_scope, p_kind integer (0: any), p_name text (NULL: any), p_from_ms (included), p_to_ms bigint, p_step_ms bigint
-- returns: by scope, kind, name and at_ms; first of each series with at_ms -1 and what was seen last; ready, dead and
--   oldest_age_ms -1: not seen
-- tables: series, series_point (read)
CREATE OR REPLACE FUNCTION pawl_internal.view_series(
    p_scope integer, p_kind integer, p_name text, p_from_ms bigint, p_to_ms bigint, p_step_ms bigint)
    RETURNS TABLE (scope smallint, kind smallint, name text, at_ms bigint, ready bigint, dead bigint, oldest_age_ms bigint, {{types point}})
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET jit = off AS $$
#variable_conflict use_column
BEGIN
    {{needs p_scope, p_kind, p_from_ms, p_to_ms, p_step_ms}}
    PERFORM pawl_internal.refuse_range('step_ms', p_step_ms, :SERIES_STEP_MS, 9007199254740992);
    RETURN QUERY
    WITH asked AS MATERIALIZED (
        SELECT s.* FROM pawl_internal.series s
         WHERE p_scope IN (0, s.scope) AND p_kind IN (0, s.kind) AND (p_name IS NULL OR s.name = p_name))
    SELECT a.scope, a.kind, a.name, -1::bigint, a.ready, a.dead, -1::bigint, {{each point: 0::bigint}} FROM asked a
     UNION ALL
    SELECT a.scope, a.kind, a.name, t.* FROM asked a CROSS JOIN LATERAL (
        SELECT p.at_ms - p.at_ms % p_step_ms, coalesce(max(p.ready), -1), coalesce(max(p.dead), -1),
               coalesce(max(p.oldest_age_ms), -1), {{each point: coalesce(sum(p.@), 0)::bigint}}
          FROM pawl_internal.series_point p
         WHERE p.step_ms IN (:SERIES_STEP_MS, :SERIES_MINUTE_MS, :SERIES_QUARTER_MS) AND p.series = a.id
           AND p.at_ms >= p_from_ms AND p.at_ms < p_to_ms
         GROUP BY 1) t
     ORDER BY 1, 2, 3, 4;
END
$$;
