-- segment: the ring of segments that messages are put into: switching to the next, and emptying what was read.

-- name: segment_held
-- What still needs a segment.
-- params: p_segment smallint
-- returns: NULL: nothing; else what it is, for people
-- tables: lane, claim, message (read)
CREATE OR REPLACE FUNCTION pawl_internal.segment_held(p_segment smallint) RETURNS text
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_custom_plan AS $$
DECLARE
    v_held record;
BEGIN
    -- Every unread message is above the floor of the transaction that put it (cursor_next), or was not reached yet.
    SELECT l.kind, l.lane INTO v_held
      FROM pawl_internal.lane l
     CROSS JOIN LATERAL (SELECT c AS last, c.at, (c.cursor).* FROM pawl_internal.claim c WHERE c.kind = l.kind AND c.lane = l.lane
                          ORDER BY c.token DESC, c.part LIMIT 1) n
     CROSS JOIN LATERAL (SELECT least(n.at, n.before, n.open_floor,
                                      (SELECT min(o.floor) FROM unnest(n.open_floors) AS o(floor))) AS start OFFSET 0) r
     WHERE EXISTS (SELECT 1 FROM pawl_internal.message m
                    WHERE m.segment = p_segment AND m.kind = l.kind AND m.lane = l.lane AND m.seq > r.start
                      AND NOT pawl_internal.was_read(m.seq, m.xid, n.last))
     LIMIT 1;
    IF FOUND THEN
        RETURN format('unread messages of kind %s in lane %s', (ARRAY['outbox', 'inbox', 'perspective'])[v_held.kind], v_held.lane);
    END IF;
    SELECT c.kind, c.lane, c.instance INTO v_held
      FROM pawl_internal.claim_active c
     WHERE c.source = :SOURCE_MESSAGE
       AND EXISTS (SELECT 1 FROM pawl_internal.message m
                    WHERE m.segment = p_segment AND m.kind = c.kind AND m.lane = c.lane
                      AND m.seq >= coalesce(c.seqs[1], c.start + 1) AND m.seq <= coalesce(c.seqs[cardinality(c.seqs)], c.at))
     LIMIT 1;
    IF FOUND THEN
        RETURN format('messages of kind %s in lane %s that instance %s has', (ARRAY['outbox', 'inbox', 'perspective'])[v_held.kind],
                      v_held.lane, v_held.instance);
    END IF;
    RETURN NULL;
END
$$;

-- name: segments_rotate
-- Empties one segment that nothing needs any more, or lets messages go into the next one when the current one is large or
-- old enough and the next one is empty.
-- returns: whether it did something; the other may be due then, in a transaction of its own
-- tables: segment (updated), message (truncated), settings (read), those of segment_held
-- locks: the segment against everything, for which it waits 20 ms at most: a transaction that has put into it or read it and is open, or a
--   dump, has locked it, and puts go on in the current one meanwhile. What needs the segment is looked up under the lock.
CREATE OR REPLACE FUNCTION pawl_internal.segments_rotate() RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET lock_timeout = '20ms' AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_switched bigint := pg_sequence_last_value('pawl_internal.segment_seq');
    v_current smallint := v_switched % 3;
    v_segment smallint;
    v_held text;
    v_due boolean;
BEGIN
    FOR v_segment IN SELECT s.segment FROM pawl_internal.segment s
                      WHERE s.segment <> v_current AND pg_relation_size('pawl_internal.message_' || s.segment) > 0
                      ORDER BY (s.segment - v_current + 3) % 3 LOOP -- the next one first
        v_held := pawl_internal.segment_held(v_segment);
        IF v_held IS NULL THEN
            BEGIN
                CASE v_segment
                WHEN 0 THEN LOCK TABLE pawl_internal.message_0 IN ACCESS EXCLUSIVE MODE;
                WHEN 1 THEN LOCK TABLE pawl_internal.message_1 IN ACCESS EXCLUSIVE MODE;
                ELSE LOCK TABLE pawl_internal.message_2 IN ACCESS EXCLUSIVE MODE;
                END CASE;
                v_held := pawl_internal.segment_held(v_segment);
                IF v_held IS NULL THEN
                    CASE v_segment
                    WHEN 0 THEN TRUNCATE pawl_internal.message_0;
                    WHEN 1 THEN TRUNCATE pawl_internal.message_1;
                    ELSE TRUNCATE pawl_internal.message_2;
                    END CASE;
                    UPDATE pawl_internal.segment s SET since_ms = 0, held = NULL WHERE s.segment = v_segment;
                    RETURN true;
                END IF;
            EXCEPTION WHEN lock_not_available THEN
                v_held := 'an open transaction that has put into it or read it, or a dump';
            END;
        END IF;
        UPDATE pawl_internal.segment s SET held = v_held WHERE s.segment = v_segment AND s.held IS DISTINCT FROM v_held;
    END LOOP;
    INSERT INTO pawl_internal.segment AS s (segment, since_ms) VALUES (v_current, v_now)
    ON CONFLICT (segment) DO UPDATE SET since_ms = v_now, held = NULL WHERE s.since_ms = 0;
    SELECT g.size >= s.segment_bytes OR (g.size > 0 AND c.since_ms <= v_now - s.segment_ms) INTO v_due
      FROM pawl_internal.settings s, pawl_internal.segment c,
           (SELECT pg_relation_size('pawl_internal.message_' || v_current) AS size) g WHERE c.segment = v_current;
    IF v_due AND pg_relation_size('pawl_internal.message_' || (v_current + 1) % 3) = 0 THEN
        PERFORM setval('pawl_internal.segment_seq', v_switched + 1);
        UPDATE pawl_internal.segment s SET since_ms = v_now, held = NULL WHERE s.segment = (v_current + 1) % 3;
        RETURN true;
    END IF;
    RETURN false;
END
$$;

-- name: view_segments
-- The segments that messages are in.
-- returns: one row each: its number, whether messages go into it, since when they do or did (0: it is empty), how many bytes it has with
--   its indexes and after how many the next one is due, and what it waits for before it can be emptied (NULL: nothing that is known)
-- tables: segment, settings (read)
CREATE OR REPLACE FUNCTION pawl_internal.view_segments() RETURNS TABLE (
    segment smallint, current boolean, since_ms bigint, bytes bigint, bytes_due bigint, held text)
LANGUAGE sql VOLATILE SECURITY DEFINER ROWS 3 AS $$
    SELECT s.segment, s.segment = pg_sequence_last_value('pawl_internal.segment_seq') % 3, s.since_ms,
           pg_total_relation_size('pawl_internal.message_' || s.segment), c.segment_bytes, s.held
      FROM pawl_internal.segment s, pawl_internal.settings c ORDER BY s.segment
$$;
