-- maintain: ends overdue claims, removes what has outlived its use, folds the tally.
-- params: p_caller uuid (NULL: nobody): never removed; p_rows_max integer: bound of each deletion
-- returns: how many of each
-- tables: all that age
-- locks: those of claims_expire; everything else skips what is locked
CREATE OR REPLACE FUNCTION pawl.maintain(
    p_caller uuid, p_rows_max integer, OUT instances_removed bigint, OUT tombstones_removed bigint,
    OUT dedupe_removed bigint, OUT requests_removed bigint, OUT claims_removed bigint, OUT history_removed bigint,
    OUT receptors_removed bigint, OUT claims_expired bigint, OUT tally_folded bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
    v_settings record;
BEGIN
    SELECT s.stale_ms, s.dedupe_ms, CASE WHEN s.history_ms > 0 THEN s.history_ms ELSE 604800000 END AS history_ms
      INTO v_settings FROM pawl.settings s;
    claims_expired := 0;
    FOR v_kind IN 1 .. 3 LOOP
        claims_expired := claims_expired + pawl.claims_expire(p_caller, v_kind::smallint, false, v_now);
    END LOOP;

    WITH gone AS (
        DELETE FROM pawl.instance i
         WHERE i.id IN (SELECT o.id FROM pawl.instance o
                         WHERE o.state = 2 AND NOT o.leftovers AND o.beat_ms < v_now - v_settings.stale_ms AND o.id IS DISTINCT FROM p_caller
                         ORDER BY o.id DESC LIMIT p_rows_max FOR UPDATE SKIP LOCKED) RETURNING i.id)
    INSERT INTO pawl.tombstone (id, removed_ms) SELECT g.id, v_now FROM gone g ON CONFLICT (id) DO NOTHING;
    GET DIAGNOSTICS instances_removed = ROW_COUNT;
    DELETE FROM pawl.tombstone t
     WHERE t.id IN (SELECT o.id FROM pawl.tombstone o WHERE o.removed_ms < v_now - 2592000000
                     LIMIT p_rows_max FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS tombstones_removed = ROW_COUNT;
    DELETE FROM pawl.dedupe d
     WHERE d.ctid = ANY (ARRAY(SELECT o.ctid FROM pawl.dedupe o WHERE o.seen_ms < v_now - v_settings.dedupe_ms
                                LIMIT p_rows_max FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS dedupe_removed = ROW_COUNT;
    DELETE FROM pawl.request r
     WHERE r.key IN (SELECT o.key FROM pawl.request o WHERE o.made_ms < v_now - 3600000
                      LIMIT p_rows_max FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS requests_removed = ROW_COUNT;
    DELETE FROM pawl.claim c
     WHERE c.ctid = ANY (ARRAY(SELECT o.ctid FROM pawl.claim o
                                WHERE o.state <> 1 AND o.lease_until_ms < v_now - 3600000
                                LIMIT p_rows_max FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS claims_removed = ROW_COUNT;
    DELETE FROM pawl.history h
     WHERE h.ctid = ANY (ARRAY(SELECT o.ctid FROM pawl.history o WHERE o.ended_ms < v_now - v_settings.history_ms
                                LIMIT p_rows_max FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS history_removed = ROW_COUNT;
    -- What a message that is still there was given must not run again.
    DELETE FROM pawl.receptor r
     WHERE r.ctid = ANY (ARRAY(SELECT o.ctid FROM pawl.receptor o
                                WHERE o.updated_ms < v_now - greatest(v_settings.history_ms, v_settings.dedupe_ms)
                                  AND NOT EXISTS (SELECT 1 FROM pawl.message m WHERE m.id = o.event_id)
                                  AND NOT EXISTS (SELECT 1 FROM pawl.aside a WHERE a.id = o.event_id)
                                  AND NOT EXISTS (SELECT 1 FROM pawl.dead d WHERE d.id = o.event_id)
                                ORDER BY o.updated_ms LIMIT p_rows_max FOR UPDATE OF o SKIP LOCKED));
    GET DIAGNOSTICS receptors_removed = ROW_COUNT;
    tally_folded := pawl.tally_fold(p_rows_max) + pawl.dead_tally_fold(p_rows_max);
    PERFORM pawl.perspective_tally_fold(); -- a stamp does it too, but only when something is appended
END
$$;
