-- receptor: receptors, which turn events into messages, and the patterns of event types.

-- name: mapping_lock
-- Waits for open appends and holds new ones back until the transaction ends.
-- params: p_wait_ms integer: for how long in all
-- raises: PW005 an append stayed open
-- locks: the mappings, exclusively
-- New appends would queue up after a waiting lock, so it waits a quarter of a second at a time and lets them pass in between.
CREATE OR REPLACE FUNCTION pawl_internal.mapping_lock(p_wait_ms integer) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_end timestamptz := clock_timestamp() + make_interval(secs => p_wait_ms / 1000.0);
    v_before text := current_setting('lock_timeout');
BEGIN
    LOOP
        BEGIN
            PERFORM set_config('lock_timeout', '250ms', true);
            PERFORM pg_advisory_xact_lock(hashtextextended('mappings of pawl.', 0));
            PERFORM set_config('lock_timeout', v_before, true);
            RETURN;
        EXCEPTION WHEN lock_not_available THEN
            NULL;
        END;
        IF clock_timestamp() > v_end THEN
            RAISE EXCEPTION USING ERRCODE = 'PW005',
                MESSAGE = 'a transaction that appended events stays open; end it, or try again later';
        END IF;
        PERFORM pg_sleep(0.05);
    END LOOP;
END
$$;

-- name: pattern_fault
-- What keeps a regular expression from being accepted; the subset is that of docs/events.md.
-- params: p_text text, printable ASCII
-- returns: NULL when it is right, else what is wrong, as domain/event_pattern.h says it
CREATE OR REPLACE FUNCTION pawl_internal.pattern_fault(p_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    v_at integer := 1;
    v_char text;
    v_atom integer := 0;           -- before us: 0 nothing, 1 an atom, 2 a group that repeats something
    v_groups boolean[] := '{}';    -- per open group: was something repeated in it
    v_repeats boolean := false;
    v_count integer := 0;
    v_part text;
    v_bounds text[];
BEGIN
    WHILE v_at <= length(p_text) LOOP
        v_char := substr(p_text, v_at, 1);
        v_part := NULL;
        IF v_char = '\' THEN
            IF substr(p_text, v_at + 1, 1) !~ '^[^a-zA-Z0-9]$' THEN
                RETURN format('character %s: a backslash may only precede punctuation', v_at);
            END IF;
            v_at := v_at + 1;
            v_atom := 1;
        ELSIF v_char = '[' THEN
            v_part := substring(substr(p_text, v_at) FROM '^\[\^?(?:[0-9]-[0-9]|[a-z]-[a-z]|[A-Z]-[A-Z]|[a-zA-Z0-9_.+/:, ])+\]');
            IF v_part IS NULL OR EXISTS (SELECT 1 FROM regexp_matches(v_part, '([0-9a-zA-Z])-([0-9a-zA-Z])', 'g') AS m
                                          WHERE m[1] COLLATE "C" > m[2]) THEN
                RETURN format('character %s: a class holds letters, digits, _ . + / : , blank and ranges inside a-z, A-Z or 0-9', v_at);
            END IF;
            v_at := v_at + length(v_part) - 1;
            v_atom := 1;
        ELSIF v_char = '(' THEN
            IF substr(p_text, v_at + 1, 1) = '?' THEN
                RETURN format('character %s: groups are plain; (? is not in the shared subset', v_at);
            END IF;
            IF cardinality(v_groups) >= 8 THEN
                RETURN format('character %s: groups are nested too deeply', v_at);
            END IF;
            v_groups := v_groups || v_repeats;
            v_repeats := false;
            v_atom := 0;
        ELSIF v_char = ')' THEN
            IF cardinality(v_groups) = 0 OR v_atom = 0 THEN
                RETURN format('character %s: this ) closes nothing, or an empty alternative', v_at);
            END IF;
            v_atom := CASE WHEN v_repeats THEN 2 ELSE 1 END;
            v_repeats := v_repeats OR v_groups[cardinality(v_groups)];
            v_groups := v_groups[1 : cardinality(v_groups) - 1];
        ELSIF v_char = '|' THEN
            IF v_atom = 0 THEN
                RETURN format('character %s: an alternative is empty', v_at);
            END IF;
            v_atom := 0;
        ELSIF v_char IN ('*', '+', '?', '{') THEN
            v_part := substring(substr(p_text, v_at) FROM '^(?:[*+?]|\{[0-9]{1,3}(?:,[0-9]{1,3})?\})');
            IF v_part IS NULL THEN
                RETURN format('character %s: write a count as {m} or {m,n}', v_at);
            END IF;
            v_bounds := regexp_split_to_array(btrim(v_part, '{}*+?'), ',');
            IF v_char = '{' AND (v_bounds[cardinality(v_bounds)]::integer NOT BETWEEN greatest(1, v_bounds[1]::integer) AND 100) THEN
                RETURN format('character %s: a count is from 1 to 100', v_at);
            END IF;
            IF v_atom = 0 THEN
                RETURN format('character %s: there is nothing before it to repeat', v_at);
            END IF;
            IF v_atom = 2 AND v_char <> '?' THEN
                RETURN format('character %s: what repeats something must not be repeated itself', v_at);
            END IF;
            v_count := v_count + 1;
            IF v_count > 20 THEN
                RETURN format('character %s: more than 20 repetitions', v_at);
            END IF;
            v_repeats := v_repeats OR v_char <> '?';
            v_at := v_at + length(v_part) - 1;
            v_atom := 0;
            IF substr(p_text, v_at + 1, 1) IN ('*', '+', '?', '{') THEN
                RETURN format('character %s: a repetition cannot be repeated', v_at + 1);
            END IF;
            v_atom := 3; -- complete, but not to be repeated
        ELSIF v_char IN ('^', '$', ']', '}') THEN
            RETURN format('character %s: write \%s for the character itself', v_at, v_char);
        ELSE
            v_atom := 1;
        END IF;
        v_at := v_at + 1;
    END LOOP;
    IF cardinality(v_groups) > 0 THEN
        RETURN 'a ( is not closed';
    END IF;
    IF v_atom = 0 THEN
        RETURN 'it ends with an empty alternative';
    END IF;
    RETURN NULL;
END
$$;

-- name: pattern_matches
-- Whether a resolved pattern matches a whole event type, letters of any case (ASCII).
-- params: p_regex text as pattern_regex made it, p_type text
-- returns: boolean, as domain/event_pattern.h answers
CREATE OR REPLACE FUNCTION pawl_internal.pattern_matches(p_regex text, p_type text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT lower(p_type COLLATE "C") ~ ('^(?:' || p_regex || ')$')
$$;

-- name: pattern_regex
-- Checks a pattern and makes the regular expression for it that pattern_matches takes.
-- params: p_mode smallint: 1 exact, 2 suffix, 3 glob, 4 regex; p_text text
-- returns: text in small letters, as domain/event_pattern.h makes it
-- raises: PW001 the pattern is wrong or too costly; the message says where
CREATE OR REPLACE FUNCTION pawl_internal.pattern_regex(p_mode smallint, p_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    v_text text := p_text;
    v_wrong text;
    v_literal text;
BEGIN
    IF coalesce(octet_length(v_text), 0) NOT BETWEEN 1 AND 256 THEN
        v_wrong := 'it must have 1 to 256 bytes';
    ELSIF v_text ~ '[^\x20-\x7e]' THEN
        v_wrong := 'only printable ASCII characters are allowed';
    ELSIF p_mode = :PATTERN_REGEX THEN
        v_text := CASE WHEN left(v_text, 1) = '^' THEN substr(v_text, 2) ELSE v_text END;
        IF right(v_text, 1) = '$' AND right(v_text, 2) <> '\$' THEN
            v_text := left(v_text, -1);
        END IF;
        v_wrong := pawl_internal.pattern_fault(v_text);
    ELSIF p_mode NOT BETWEEN :PATTERN_EXACT AND :PATTERN_GLOB THEN
        v_wrong := format('mode %s is unknown; use 1 exact, 2 suffix, 3 glob, 4 regex', p_mode);
    END IF;
    IF v_wrong IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format('pattern "%s": %s', left(p_text, 256), v_wrong);
    END IF;
    v_text := lower(v_text COLLATE "C");
    IF p_mode = :PATTERN_REGEX THEN
        RETURN v_text;
    END IF;
    v_literal := regexp_replace(v_text, '([^a-z0-9_ ])', '\\\1', 'g');
    RETURN CASE p_mode WHEN 1 THEN v_literal
                       WHEN 2 THEN '(?:.*[.+/:])?' || v_literal
                       ELSE replace(replace(regexp_replace(v_literal, '(\\\*)+', '\*', 'g'), '\*', '.*'), '\?', '.') END;
END
$$;

-- name: receptor_list
-- The receptors on events and how far they are.
-- params: none
-- returns: one row each, by name; patterns: a line each, its mode, a blank, its text; head: the last position given
-- tables: event_receptor, pattern, stamper (read)
CREATE OR REPLACE FUNCTION pawl_internal.receptor_list() RETURNS TABLE (
    name text, patterns text, "position" bigint, fed bigint, registered_ms bigint, head bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT r.name, (SELECT string_agg(t.mode || ' ' || t.text, E'\n' ORDER BY t.n) FROM pawl_internal.pattern t WHERE t.key = 'event:' || r.name),
           r.position, r.fed, r.registered_ms, s.position
      FROM pawl_internal.event_receptor r CROSS JOIN pawl_internal.stamper s ORDER BY r.name;
END
$$;

-- name: receptor_message_id
-- The id of the message that a receptor gets for an event; that of receptor_message in C.
-- params: p_event uuid, p_name text
-- returns: uuid: the first six bytes of the event's, then a hash of both, marked as version 8
CREATE OR REPLACE FUNCTION pawl_internal.receptor_message_id(p_event uuid, p_name text) RETURNS uuid
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    v_hash bytea := substring(sha256(convert_to(p_event::text || '/' || p_name, 'UTF8')) FROM 1 FOR 10);
BEGIN
    v_hash := set_byte(v_hash, 0, get_byte(v_hash, 0) & 15 | 128);
    v_hash := set_byte(v_hash, 2, get_byte(v_hash, 2) & 63 | 128);
    RETURN (left(replace(p_event::text, '-', ''), 12) || encode(v_hash, 'hex'))::uuid;
END
$$;

-- name: receptor_register
-- Registers a receptor on events, or gives it other patterns.
-- params: p_modes, p_texts: its patterns; p_from_start: a new one also gets the events that are there; p_replace: one that
--   is there gets these patterns, from its position on
-- returns: 1 applied, 2 duplicate, 4 conflict: it has other patterns
-- raises: PW001 the name or a pattern is wrong
-- tables: event_receptor, pattern; those of events_stamp
-- locks: the receptor's row; those of events_stamp
CREATE OR REPLACE FUNCTION pawl_internal.receptor_register(
    p_name text, p_modes smallint[], p_texts text[], p_from_start boolean, p_replace boolean) RETURNS smallint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET jit = off AS $$
DECLARE
    v_key text := 'event:' || p_name;
BEGIN
    {{items p_modes, p_texts}}
    IF coalesce(p_name, '') !~ '^[A-Za-z0-9_.-]{1,100}$' THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001',
            MESSAGE = 'the name of a receptor has 1 to 100 letters, digits, dots, dashes and underscores';
    END IF;
    IF coalesce(cardinality(p_texts), 0) NOT BETWEEN 1 AND 64 OR cardinality(p_modes) <> cardinality(p_texts) THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = 'name from 1 to 64 patterns, each with its mode';
    END IF;
    PERFORM pawl_internal.pattern_regex(u.mode, u.text) FROM unnest(p_modes, p_texts) AS u(mode, text);
    IF NOT p_from_start THEN
        PERFORM pawl_internal.events_stamp(10000); -- what was committed before is not meant
    END IF;
    LOOP
        INSERT INTO pawl_internal.event_receptor (name, position, registered_ms)
        SELECT p_name, CASE WHEN p_from_start THEN 0 ELSE s.position END, pawl_internal.now_ms() FROM pawl_internal.stamper s
            ON CONFLICT (name) DO NOTHING;
        EXIT WHEN FOUND;
        PERFORM 1 FROM pawl_internal.event_receptor r WHERE r.name = p_name FOR UPDATE;
        CONTINUE WHEN NOT FOUND; -- removed meanwhile
        IF ARRAY(SELECT t.mode || ' ' || t.text FROM pawl_internal.pattern t WHERE t.key = v_key ORDER BY t.n)
           = ARRAY(SELECT u.mode || ' ' || u.text FROM unnest(p_modes, p_texts) WITH ORDINALITY AS u(mode, text, n) ORDER BY u.n) THEN
            RETURN :ANSWER_DUPLICATE;
        END IF;
        IF NOT p_replace THEN
            RETURN :ANSWER_CONFLICT;
        END IF;
        DELETE FROM pawl_internal.pattern t WHERE t.key = v_key;
        EXIT;
    END LOOP;
    INSERT INTO pawl_internal.pattern (key, n, mode, text, regex)
    SELECT v_key, u.n, u.mode, u.text, pawl_internal.pattern_regex(u.mode, u.text)
      FROM unnest(p_modes, p_texts) WITH ORDINALITY AS u(mode, text, n);
    RETURN :ANSWER_APPLIED;
END
$$;

-- name: receptor_remove
-- Removes a receptor on events; the messages that were put for it stay.
-- params: p_name text
-- returns: 1 applied, 6 not found
-- tables: event_receptor, pattern (deleted)
-- locks: the receptor's row
CREATE OR REPLACE FUNCTION pawl_internal.receptor_remove(p_name text) RETURNS smallint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    DELETE FROM pawl_internal.event_receptor r WHERE r.name = p_name;
    IF NOT FOUND THEN
        RETURN :ANSWER_NOT_FOUND;
    END IF;
    DELETE FROM pawl_internal.pattern t WHERE t.key = 'event:' || p_name;
    RETURN :ANSWER_APPLIED;
END
$$;

-- name: receptors_feed
-- Puts a message for each event after the receptors' positions that matches them, and moves the positions.
-- params: p_names text[]: those that the caller runs; p_limit: events per receptor
-- returns: how many of the names are registered, events looked at, messages put, whether there is more
-- tables: event_receptor (updated), pattern, position, event, stamper (read); those of put
-- locks: the receptors' rows: one caller at a time feeds a receptor, locked ones are skipped
-- Positions have no gaps and none is given after the last (docs/decisions/0004-positions.md), so nothing is skipped; the
-- messages and the position are one transaction, so nothing is put twice.
CREATE OR REPLACE FUNCTION pawl_internal.receptors_feed(
    p_names text[], p_limit integer, OUT known integer, OUT events bigint, OUT fed bigint, OUT more boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_head bigint;
    v_receptor record;
    v_read record;
    v_put bigint;
BEGIN
    events := 0;
    fed := 0;
    more := false;
    SELECT s.position INTO v_head FROM pawl_internal.stamper s;
    SELECT count(*) INTO known FROM pawl_internal.event_receptor r WHERE r.name = ANY (p_names);
    FOR v_receptor IN SELECT r.name, r.position FROM pawl_internal.event_receptor r
                       WHERE r.name = ANY (p_names) AND r.position < v_head
                       ORDER BY array_position(p_names, r.name) FOR UPDATE SKIP LOCKED LOOP
        SELECT count(*) AS events,
               array_agg(pawl_internal.receptor_message_id(e.id, v_receptor.name) ORDER BY e.position) FILTER (WHERE e.wanted) AS ids,
               array_agg('event:' || v_receptor.name) FILTER (WHERE e.wanted) AS topics,
               array_agg(e.type ORDER BY e.position) FILTER (WHERE e.wanted) AS types,
               array_agg(e.payload ORDER BY e.position) FILTER (WHERE e.wanted) AS payloads,
               array_agg(('{"stream":' || to_json(e.stream) || ',"version":' || e.version
                          || CASE WHEN octet_length(e.metadata::text) <= 60000 THEN ',"metadata":' || e.metadata ELSE '' END
                          || '}')::json ORDER BY e.position) FILTER (WHERE e.wanted) AS headers,
               array_agg(e.correlation_id ORDER BY e.position) FILTER (WHERE e.wanted) AS correlation_ids,
               array_agg(e.id ORDER BY e.position) FILTER (WHERE e.wanted) AS causation_ids,
               array_agg(e.traceparent ORDER BY e.position) FILTER (WHERE e.wanted) AS traceparents
          INTO v_read
          FROM (SELECT a.*, EXISTS (SELECT 1 FROM pawl_internal.pattern t WHERE t.key = 'event:' || v_receptor.name
                                       AND pawl_internal.pattern_matches(t.regex, a.type)) AS wanted
                  FROM pawl_internal.events_all(v_receptor.position + 1, false, 0, p_limit) a) e;
        v_put := 0;
        IF v_read.ids IS NOT NULL THEN
            SELECT count(*) FILTER (WHERE p.answer = :ANSWER_APPLIED) INTO v_put
              FROM unnest(pawl_internal.put(:KIND_INBOX::smallint, v_read.ids, p_topics => v_read.topics, p_types => v_read.types,
                                   p_payloads => v_read.payloads, p_headers => v_read.headers,
                                   p_correlation_ids => v_read.correlation_ids, p_causation_ids => v_read.causation_ids,
                                   p_traceparents => v_read.traceparents,
                                   p_consumer => 'event:' || v_receptor.name)) AS p(answer);
        END IF;
        UPDATE pawl_internal.event_receptor r SET position = r.position + v_read.events, fed = r.fed + v_put WHERE r.name = v_receptor.name;
        events := events + v_read.events;
        fed := fed + v_put;
        more := more OR v_receptor.position + v_read.events < v_head;
    END LOOP;
END
$$;

-- name: receptors_report
-- How far the receptors of events have come.
-- params: one array member per report: p_event_ids, p_receptors, p_statuses (bits), p_errors (NULL: it is a completion)
-- returns: one answer per report: 1 applied, 2 duplicate (it was completed before)
-- tables: receptor
-- locks: the receptor rows, in the order of the call
CREATE OR REPLACE FUNCTION pawl_internal.receptors_report(
    p_event_ids uuid[], p_receptors text[], p_statuses integer[], p_errors text[]) RETURNS smallint[]
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_answers smallint[] := '{}';
    v_now bigint := pawl_internal.now_ms();
    v_report record;
BEGIN
    {{items p_event_ids, p_receptors, p_statuses, p_errors?}}
    FOR v_report IN SELECT u.event_id, u.receptor, pawl_internal.text_cut(u.error, 4096) AS error,
                           CASE WHEN u.error IS NULL THEN u.status ELSE u.status | :WORK_FAILED END AS status
                      FROM unnest(p_event_ids, p_receptors, p_statuses, p_errors)
                           WITH ORDINALITY AS u(event_id, receptor, status, error, n) ORDER BY u.n LOOP
        INSERT INTO pawl_internal.receptor AS r (event_id, receptor, status, error, attempts, updated_ms)
        VALUES (v_report.event_id, v_report.receptor, v_report.status, v_report.error, 1, v_now)
        ON CONFLICT (event_id, receptor) DO UPDATE
           SET status = EXCLUDED.status, error = EXCLUDED.error, attempts = r.attempts + 1, updated_ms = v_now
         WHERE r.status & :WORK_COMPLETED = 0;
        v_answers := v_answers || CASE WHEN FOUND THEN :ANSWER_APPLIED ELSE :ANSWER_DUPLICATE END::smallint;
    END LOOP;
    RETURN v_answers;
END
$$;

-- name: type_resolve
-- Notes an event type and maps it to the perspectives whose patterns match it.
-- params: p_type text
-- tables: type_seen, mapping (inserted), perspective, pattern (read)
-- locks: none: transactions that note the same type at the same time both do
CREATE OR REPLACE FUNCTION pawl_internal.type_resolve(p_type text) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO pawl_internal.type_seen (type) VALUES (p_type);
    INSERT INTO pawl_internal.mapping (type, key)
    SELECT DISTINCT p_type, p.key FROM pawl_internal.perspective p JOIN pawl_internal.pattern t ON t.key = p.key
     WHERE p.state IN (:PERSPECTIVE_LIVE, :PERSPECTIVE_FILLING) AND pawl_internal.pattern_matches(t.regex, p_type);
END
$$;

-- name: view_receptors
-- How far the receptors of an event have come.
-- params: p_event_id uuid
-- returns: one row per receptor, by name
-- tables: receptor (read)
CREATE OR REPLACE FUNCTION pawl_internal.view_receptors(p_event_id uuid) RETURNS TABLE (
    receptor text, error text, status integer, attempts integer, updated_ms bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 4 AS $$
BEGIN
    RETURN QUERY SELECT r.receptor, CASE WHEN r.error IS NOT NULL AND pawl_internal.payloads_shown() THEN r.error END, r.status, r.attempts, r.updated_ms
                   FROM pawl_internal.receptor r WHERE r.event_id = p_event_id ORDER BY r.receptor;
END
$$;
