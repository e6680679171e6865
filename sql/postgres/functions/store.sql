-- store: the store as a whole: sessions, transactions, settings, clock, epoch, maintenance.

-- name: answer_names
-- The answers of a call in words, for callers that speak JSON.
-- params: p_answers smallint[]
-- returns: a JSON array of applied, duplicate, stale, conflict, invalid, not_found
CREATE OR REPLACE FUNCTION pawl_internal.answer_names(p_answers smallint[]) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT to_jsonb(pawl_internal.answer_words(p_answers)) $$;

-- name: answer_words
-- The answers of a call in words.
-- params: p_answers smallint[]
-- returns: one of applied, duplicate, stale, conflict, invalid, not_found for each
CREATE OR REPLACE FUNCTION pawl_internal.answer_words(p_answers smallint[]) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT ARRAY(SELECT (ARRAY['applied', 'duplicate', 'stale', 'conflict', 'invalid', 'not_found'])[a.answer]
                   FROM unnest(p_answers) WITH ORDINALITY AS a(answer, n) ORDER BY a.n)
$$;

-- name: epoch_check
-- Raises the epoch when the schema finds itself in another cluster than before.
-- tables: settings (read; written when the system identifier has changed), lane (then written)
-- locks: none, or those of epoch_raise
CREATE OR REPLACE FUNCTION pawl_internal.epoch_check() RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_system bigint;
    v_known bigint;
BEGIN
    IF NOT has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE') THEN
        RETURN;
    END IF;
    SELECT c.system_identifier INTO v_system FROM pg_control_system() c;
    SELECT s.system_identifier INTO v_known FROM pawl_internal.settings s;
    IF v_known = v_system THEN
        RETURN;
    END IF;
    IF v_known IS NOT NULL THEN
        PERFORM pawl_internal.epoch_raise(:EPOCH_COPY::smallint);
    END IF;
    UPDATE pawl_internal.settings s SET system_identifier = v_system;
END
$$;

-- name: epoch_follow
-- Raises the epoch when the server has another past than the tokens that were given: after a promotion, and when
-- a token is known that it never gave, so that it must have lost commits.
-- params: p_seen bigint: the highest token that a caller got from it; 0: none
-- returns: the epoch, as epoch_now
-- raises: PW001 the token is of an epoch far ahead
-- tables: settings (read; written when the epoch is raised)
-- locks: the settings row, only when it is written (skip locked: a later call writes it)
-- Only the calls with which a worker says that it lives come here, which are short. While a transaction has the settings the
-- epoch of a promotion is computed and not written (epoch_now), and that of lost commits is not raised yet.
-- The timeline is read from the current WAL file's name: the control checkpoint still shows the old one right after a
-- promotion.
CREATE OR REPLACE FUNCTION pawl_internal.epoch_follow(p_seen bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_timeline text := left(pg_walfile_name(pg_current_wal_lsn()), 8);
    v_epoch bigint;
BEGIN
    IF EXISTS (SELECT 1 FROM pawl_internal.settings s WHERE s.timeline IS DISTINCT FROM v_timeline) THEN
        PERFORM 1 FROM pawl_internal.settings s FOR NO KEY UPDATE SKIP LOCKED;
        IF FOUND THEN
            UPDATE pawl_internal.settings s SET epoch = pawl_internal.epoch_now(), timeline = v_timeline, epoch_ms = pawl_internal.now_ms(), epoch_cause = :EPOCH_TIMELINE
             WHERE s.timeline IS DISTINCT FROM v_timeline;
        END IF;
    END IF;
    v_epoch := pawl_internal.epoch_now();
    IF p_seen > 0 AND p_seen > (SELECT (v_epoch << 40) | q.last_value FROM pawl_internal.token_seq q) THEN
        IF p_seen >> 40 > v_epoch + 1000 THEN
            RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format('seen %s is no token of this store: its epoch is %s', p_seen, v_epoch);
        END IF;
        PERFORM 1 FROM pawl_internal.settings s FOR NO KEY UPDATE SKIP LOCKED;
        IF FOUND THEN
            UPDATE pawl_internal.settings s SET epoch = (p_seen >> 40) + 1, epoch_ms = pawl_internal.now_ms(), epoch_cause = :EPOCH_WENT_BACK
             WHERE s.epoch <= p_seen >> 40;
            v_epoch := pawl_internal.epoch_now();
        END IF;
    END IF;
    RETURN v_epoch;
END
$$;

-- name: epoch_now
-- The epoch on the timeline that the server is on, whether or not it has been written yet.
-- returns: the epoch of settings; when the server is on another timeline than the one known there, what epoch_follow will write
-- tables: settings (read)
-- Tokens are made of it in transactions of clients, which may stay open for long: so it writes and locks nothing, and does
-- not wait. It agrees with what is written later, by any call: both add how many timelines further the server is, so that a second
-- promotion before the first was written counts too, and nothing that changes the epoch lowers it. A timeline is 8 epochs: the old
-- server may have raised its own, by 1 each time, and the new one may have lost that.
CREATE OR REPLACE FUNCTION pawl_internal.epoch_now() RETURNS bigint
LANGUAGE sql VOLATILE AS $$
    SELECT s.epoch + CASE WHEN s.timeline = t.timeline THEN 0
                          ELSE 8 * greatest(1, ('x' || t.timeline)::bit(32)::bigint - ('x' || s.timeline)::bit(32)::bigint) END
      FROM pawl_internal.settings s, (SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8) AS timeline) t
$$;

-- name: epoch_raise
-- For a restored database: every token granted before is older than every token granted after.
-- params: p_cause smallint: 1 asked, 3 another cluster
-- returns: the new epoch
-- tables: settings (written), lane (written: what it knew of transaction ids is forgotten)
-- locks: all lanes, the settings row
CREATE OR REPLACE FUNCTION pawl_internal.epoch_raise(p_cause smallint DEFAULT :EPOCH_ASKED::smallint) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_epoch bigint;
BEGIN
    {{needs p_cause}}
    PERFORM 1 FROM pawl_internal.lane l ORDER BY l.kind, l.lane FOR UPDATE;
    -- Another cluster counts other transactions: read every lane from its beginning once.
    UPDATE pawl_internal.lane l SET low = 0, cut_seqs = '{}', cut_xids = '{}', open_xids = '{}', seen_xmax = NULL;
    UPDATE pawl_internal.settings s SET epoch = s.epoch + 1, epoch_ms = pawl_internal.now_ms(), epoch_cause = p_cause RETURNING s.epoch INTO v_epoch;
    RETURN v_epoch;
END
$$;

-- name: kind_of
-- The number of a kind of messages that a caller names.
-- params: p_kind text: outbox (also NULL) or inbox
-- raises: PW001 it is another word
CREATE OR REPLACE FUNCTION pawl_internal.kind_of(p_kind text) RETURNS smallint
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF coalesce(p_kind, 'outbox') NOT IN ('outbox', 'inbox') THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format('kind is %s; use outbox or inbox', p_kind);
    END IF;
    RETURN CASE p_kind WHEN 'inbox' THEN :KIND_INBOX ELSE :KIND_OUTBOX END;
END
$$;

-- name: maintain
-- Ends overdue claims, removes what has outlived its use, folds the tally.
-- params: p_caller uuid (NULL: none): never removed; p_rows_max integer: bound of each deletion
-- returns: how many of each
-- tables: all that age
-- locks: those of claims_expire; everything else skips what is locked
CREATE OR REPLACE FUNCTION pawl_internal.maintain(
    p_caller uuid, p_rows_max integer, OUT instances_removed bigint, OUT tombstones_removed bigint,
    OUT dedupe_removed bigint, OUT requests_removed bigint, OUT claims_removed bigint, OUT history_removed bigint,
    OUT receptors_removed bigint, OUT claims_expired bigint, OUT tally_folded bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET jit = off AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_settings record;
BEGIN
    PERFORM pawl_internal.refuse_range('rows_max', p_rows_max, 0, 1000000);
    SELECT s.stale_ms, s.dedupe_ms, CASE WHEN s.history_ms > 0 THEN s.history_ms ELSE 604800000 END AS history_ms
      INTO v_settings FROM pawl_internal.settings s;
    claims_expired := 0;
    FOR v_kind IN 1 .. :KIND_COUNT LOOP
        claims_expired := claims_expired + pawl_internal.claims_expire(p_caller, v_kind::smallint, false, v_now);
    END LOOP;

    WITH gone AS (
        DELETE FROM pawl_internal.instance i
         WHERE i.id IN (SELECT o.id FROM pawl_internal.instance o
                         WHERE o.state = :INSTANCE_EVICTED AND NOT o.leftovers AND o.beat_ms < v_now - v_settings.stale_ms AND o.id IS DISTINCT FROM p_caller
                         ORDER BY o.id DESC LIMIT p_rows_max FOR UPDATE SKIP LOCKED) RETURNING i.id)
    INSERT INTO pawl_internal.tombstone (id, removed_ms) SELECT g.id, v_now FROM gone g ON CONFLICT (id) DO NOTHING;
    GET DIAGNOSTICS instances_removed = ROW_COUNT;
    DELETE FROM pawl_internal.tombstone t
     WHERE t.id IN (SELECT o.id FROM pawl_internal.tombstone o WHERE o.removed_ms < v_now - 2592000000
                     LIMIT p_rows_max FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS tombstones_removed = ROW_COUNT;
    DELETE FROM pawl_internal.dedupe d
     WHERE d.ctid = ANY (ARRAY(SELECT o.ctid FROM pawl_internal.dedupe o WHERE o.seen_ms < v_now - v_settings.dedupe_ms
                                LIMIT p_rows_max FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS dedupe_removed = ROW_COUNT;
    DELETE FROM pawl_internal.request r
     WHERE r.key IN (SELECT o.key FROM pawl_internal.request o WHERE o.made_ms < v_now - 3600000
                      LIMIT p_rows_max FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS requests_removed = ROW_COUNT;
    DELETE FROM pawl_internal.claim c
     WHERE c.ctid = ANY (ARRAY(SELECT o.ctid FROM pawl_internal.claim o
                                WHERE o.state <> :CLAIM_ACTIVE AND o.lease_until_ms < v_now - 3600000
                                LIMIT p_rows_max FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS claims_removed = ROW_COUNT;
    DELETE FROM pawl_internal.history h
     WHERE h.ctid = ANY (ARRAY(SELECT o.ctid FROM pawl_internal.history o WHERE o.ended_ms < v_now - v_settings.history_ms
                                LIMIT p_rows_max FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS history_removed = ROW_COUNT;
    -- What a message that is still there was given must not run again.
    DELETE FROM pawl_internal.receptor r
     WHERE r.ctid = ANY (ARRAY(SELECT o.ctid FROM pawl_internal.receptor o
                                WHERE o.updated_ms < v_now - greatest(v_settings.history_ms, v_settings.dedupe_ms)
                                  AND NOT EXISTS (SELECT 1 FROM pawl_internal.message m WHERE m.id = o.event_id)
                                  AND NOT EXISTS (SELECT 1 FROM pawl_internal.aside a WHERE a.id = o.event_id)
                                  AND NOT EXISTS (SELECT 1 FROM pawl_internal.dead d WHERE d.id = o.event_id)
                                ORDER BY o.updated_ms LIMIT p_rows_max FOR UPDATE OF o SKIP LOCKED));
    GET DIAGNOSTICS receptors_removed = ROW_COUNT;
    PERFORM pawl_internal.attempts_purge(v_now - :MESSAGE_ATTEMPTS_KEPT_DAYS * 86400000::bigint, p_rows_max);
    tally_folded := pawl_internal.tally_fold(p_rows_max) + pawl_internal.dead_tally_fold(p_rows_max);
    PERFORM pawl_internal.series_fold(v_now);
    PERFORM pawl_internal.perspective_tally_fold(); -- a stamp does it too, but only when something is appended
END
$$;

-- name: moment
-- A time in milliseconds as PostgreSQL's own type.
CREATE OR REPLACE FUNCTION pawl_internal.moment(p_ms bigint) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT to_timestamp(p_ms / 1000.0) $$;

-- name: needed
-- An argument that a caller must give.
-- raises: PW001 it is NULL
CREATE OR REPLACE FUNCTION pawl_internal.needed(p_name text, p_value anyelement) RETURNS anyelement
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF p_value IS NULL THEN
        PERFORM pawl_internal.refuse_null(ARRAY[p_name], ARRAY[true]);
    END IF;
    RETURN p_value;
END
$$;

-- name: now_ms
-- The database's clock in milliseconds, or the time at which a test has stopped it.
-- returns: milliseconds since 1970; every operation reads it once
-- tables: settings (read)
CREATE OR REPLACE FUNCTION pawl_internal.now_ms() RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER AS $$
    SELECT CASE WHEN s.test_now_ms <> 0 THEN s.test_now_ms
                ELSE (extract(epoch FROM clock_timestamp()) * 1000)::bigint END
      FROM pawl_internal.settings s
$$;

-- name: payload_hash
-- The first 8 bytes of the SHA-256 of a payload, as base/hash.h hash_payload computes it.
-- params: p_payload json
-- returns: bigint
CREATE OR REPLACE FUNCTION pawl_internal.payload_hash(p_payload json) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT ('x' || encode(substring(sha256(convert_to(p_payload::text, 'UTF8')) FROM 1 FOR 8), 'hex'))::bit(64)::bigint
$$;

-- name: refuse_items
-- Refuses arrays that do not have one member for each item.
-- params: p_names text[]: of the arrays, the first of them says how many items there are, one with a question mark may be NULL;
--   p_counts integer[]: their cardinalities; p_holes integer[]: where each has its first NULL that has no meaning
-- raises: PW001 the first that is wrong
CREATE OR REPLACE FUNCTION pawl_internal.refuse_items(p_names text[], p_counts integer[], p_holes integer[]) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    v_items integer := coalesce(p_counts[1], 0);
BEGIN
    FOR i IN 1 .. cardinality(p_names) LOOP
        CONTINUE WHEN coalesce(p_counts[i], 0) = 0 AND p_names[i] LIKE '%?'; -- it says nothing about any
        IF coalesce(p_counts[i], 0) <> v_items THEN
            RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format('%s has %s members and %s has %s: give each one for every item',
                rtrim(p_names[i], '?'), coalesce(p_counts[i]::text, 'no'), p_names[1], coalesce(p_counts[1]::text, 'none'));
        ELSIF p_holes[i] > 0 THEN
            RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format('item %s of %s: %s is NULL there', p_holes[i], v_items, rtrim(p_names[i], '?'));
        END IF;
    END LOOP;
END
$$;

-- name: refuse_null
-- Says which arguments of a call are missing.
-- params: p_names text[], p_missing boolean[]: of each argument that must be given
-- raises: PW001 one of them is NULL
CREATE OR REPLACE FUNCTION pawl_internal.refuse_null(p_names text[], p_missing boolean[]) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    v_missing text := (SELECT string_agg(a.name, ', ' ORDER BY a.n) FROM unnest(p_names, p_missing) WITH ORDINALITY AS a(name, missing, n)
                        WHERE a.missing);
BEGIN
    IF v_missing IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format('NULL in place of %s; give it a value, or leave it out where it has a default', v_missing);
    END IF;
END
$$;

-- name: refuse_numbers
-- Refuses numbers of items that are out of their range.
-- params: p_name text, p_values bigint[], p_low bigint, p_high bigint
-- raises: PW001 the first that is below or above
CREATE OR REPLACE FUNCTION pawl_internal.refuse_numbers(p_name text, p_values bigint[], p_low bigint, p_high bigint) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    v_wrong record;
BEGIN
    SELECT u.value, u.n INTO v_wrong FROM unnest(p_values) WITH ORDINALITY AS u(value, n) WHERE u.value NOT BETWEEN p_low AND p_high LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format('item %s of %s: %s is %s; it must be %s … %s', v_wrong.n,
            cardinality(p_values), p_name, v_wrong.value, p_low, p_high);
    END IF;
END
$$;

-- name: refuse_range
-- Refuses a number that is out of its range.
-- params: p_name text, p_value bigint, p_low bigint, p_high bigint
-- returns: the value; NULL passes
-- raises: PW001 it is below or above
CREATE OR REPLACE FUNCTION pawl_internal.refuse_range(p_name text, p_value bigint, p_low bigint, p_high bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF p_value NOT BETWEEN p_low AND p_high THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format('%s is %s; it must be %s … %s', p_name, p_value, p_low, p_high);
    END IF;
    RETURN p_value;
END
$$;

-- name: retry_wait_ms
-- The delay after a failed attempt: 1 s, doubled each time, at most 60 s, of that 50 to 100 %.
-- params: p_attempt integer, counted from 1
-- returns: milliseconds, as domain/retry.h has them
CREATE OR REPLACE FUNCTION pawl_internal.retry_wait_ms(p_attempt integer) RETURNS bigint
LANGUAGE sql VOLATILE AS $$
    SELECT ((d.delay + 1) / 2 + floor(random() * (d.delay - (d.delay + 1) / 2 + 1)))::bigint
      FROM (SELECT least(60000, 1000::bigint << least(greatest(p_attempt, 1) - 1, 16)) AS delay) d
$$;

-- name: settings_change
-- Changes schema-wide settings; -1 leaves one as it is.
-- params: p_instance_lease_ms, p_stale_ms, p_dedupe_ms, p_history_ms, p_test_now_ms (0: the real clock), p_max_attempts,
--   p_dead_policy
-- tables: settings (updated)
-- locks: the settings row
CREATE OR REPLACE FUNCTION pawl_internal.settings_change(
    p_instance_lease_ms bigint, p_stale_ms bigint, p_dedupe_ms bigint, p_history_ms bigint, p_test_now_ms bigint,
    p_max_attempts integer, p_dead_policy integer) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    PERFORM pawl_internal.refuse_range('dead_policy', p_dead_policy, -1, 3);
    PERFORM pawl_internal.refuse_range('max_attempts', p_max_attempts, -1, 1000);
    UPDATE pawl_internal.settings s
       SET instance_lease_ms = coalesce(nullif(p_instance_lease_ms, -1), s.instance_lease_ms),
           stale_ms = coalesce(nullif(p_stale_ms, -1), s.stale_ms),
           dedupe_ms = coalesce(nullif(p_dedupe_ms, -1), s.dedupe_ms),
           history_ms = coalesce(nullif(p_history_ms, -1), s.history_ms),
           test_now_ms = coalesce(nullif(p_test_now_ms, -1), s.test_now_ms),
           max_attempts = coalesce(nullif(p_max_attempts, -1), s.max_attempts),
           dead_policy = coalesce(nullif(p_dead_policy, -1), s.dead_policy)::smallint;
    -- See migrate_constants.
    IF p_test_now_ms > 0 AND NOT pawl_internal.clock_is_stopped() THEN
        CREATE OR REPLACE FUNCTION pawl_internal.clock_is_stopped() RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT true';
    ELSIF p_test_now_ms = 0 AND pawl_internal.clock_is_stopped() THEN
        CREATE OR REPLACE FUNCTION pawl_internal.clock_is_stopped() RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT false';
    END IF;
END
$$;

-- name: settings_read
-- The schema-wide settings and the version of the schema.
-- returns: one row
-- tables: settings, schema_migration (read)
CREATE OR REPLACE FUNCTION pawl_internal.settings_read(
    OUT partition_count integer, OUT lane_count integer, OUT max_attempts integer, OUT dead_policy integer,
    OUT schema_version integer, OUT epoch bigint, OUT instance_lease_ms bigint, OUT stale_ms bigint, OUT dedupe_ms bigint,
    OUT history_ms bigint, OUT test_now_ms bigint, OUT epoch_ms bigint, OUT epoch_cause integer)
LANGUAGE sql VOLATILE SECURITY DEFINER AS $$
    SELECT s.partition_count, s.lane_count, s.max_attempts, s.dead_policy::integer,
           (SELECT max(m.version) FROM pawl_internal.schema_migration m), s.epoch, s.instance_lease_ms, s.stale_ms, s.dedupe_ms,
           s.history_ms, s.test_now_ms, s.epoch_ms, s.epoch_cause::integer
      FROM pawl_internal.settings s
$$;

-- name: span_ms
-- An interval that a caller gives, in milliseconds.
-- params: p_name text, p_value interval (NULL: p_default), p_default bigint, p_low bigint, p_high bigint: its range in milliseconds
-- raises: PW001 it is below or above
CREATE OR REPLACE FUNCTION pawl_internal.span_ms(
    p_name text, p_value interval, p_default bigint, p_low bigint DEFAULT 100, p_high bigint DEFAULT 86400000) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    v_ms bigint := (extract(epoch FROM p_value) * 1000)::bigint;
BEGIN
    IF v_ms NOT BETWEEN p_low AND p_high THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format('%s is %s; it must be %s … %s', p_name, p_value,
            make_interval(secs => p_low / 1000.0), make_interval(secs => p_high / 1000.0));
    END IF;
    RETURN coalesce(v_ms, p_default);
END
$$;

-- name: text_cut
-- The longest prefix of a text within a number of bytes of UTF-8, without half a character.
-- params: p_text text, p_bytes_max integer
-- returns: text
CREATE OR REPLACE FUNCTION pawl_internal.text_cut(p_text text, p_bytes_max integer) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    v_cut text;
BEGIN
    IF p_text IS NULL OR octet_length(p_text) <= p_bytes_max THEN
        RETURN p_text;
    END IF;
    v_cut := left(p_text, p_bytes_max);
    WHILE octet_length(v_cut) > p_bytes_max LOOP
        -- A character has at most 4 bytes, so this many are surely too many; at least one goes.
        v_cut := left(v_cut, length(v_cut) - greatest(1, (octet_length(v_cut) - p_bytes_max) / 4));
    END LOOP;
    RETURN v_cut;
END
$$;

-- name: uuid7
-- A new UUIDv7: 48 bits of wall-clock milliseconds, then random bits.
-- returns: uuid
-- Written out by the planner where it is called, as send: the caller's rights, and every name qualified.
-- search_path: the caller's
CREATE OR REPLACE FUNCTION pawl_internal.uuid7() RETURNS uuid
LANGUAGE sql VOLATILE AS $$
    -- gen_random_uuid() has version 4 (0100); bits 52 and 53 make it 7 (0111).
    SELECT pg_catalog.encode(pg_catalog.set_bit(pg_catalog.set_bit(
               overlay(pg_catalog.uuid_send(pg_catalog.gen_random_uuid())
                       PLACING substring(pg_catalog.int8send((extract(epoch FROM pg_catalog.clock_timestamp())
                                                              OPERATOR(pg_catalog.*) 1000)::bigint) FROM 3)
                       FROM 1 FOR 6),
               52, 1), 53, 1), 'hex')::pg_catalog.uuid
$$;

-- name: xid_widen
-- The 64-bit form of a transaction id that was drawn in this transaction.
-- params: p_xid xid: the xmin of a row that this transaction wrote
-- returns: xid8
CREATE OR REPLACE FUNCTION pawl_internal.xid_widen(p_xid xid) RETURNS xid8
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_own bigint := pg_current_xact_id()::text::bigint;
    v_wide bigint := ((v_own >> 32) << 32) | p_xid::text::bigint;
BEGIN
    -- The lower half of a subtransaction's id may have wrapped since the transaction began.
    RETURN (v_wide + CASE WHEN v_wide < v_own THEN 4294967296 ELSE 0 END)::text::xid8;
END
$$;
