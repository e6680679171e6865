-- hold_settle: makes the holds of some streams fit the rows they have aside.
-- params: p_kind smallint, p_lane integer, p_keys text[]
-- returns: nothing. No row aside: a waiting hold goes. Else: made when missing, due at the time of its first row.
--          Blocked and parked holds stay.
-- tables: hold (written), aside (read)
-- locks: the holds, in the order of their keys: whoever adds or ends aside rows of a stream settles under this lock
CREATE OR REPLACE FUNCTION pawl.hold_settle(p_kind smallint, p_lane integer, p_keys text[]) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM 1 FROM pawl.hold h WHERE h.kind = p_kind AND h.key = ANY (p_keys) ORDER BY h.key FOR UPDATE;
    -- Each of the next statements sees what was committed before the lock was ours.
    DELETE FROM pawl.hold h
     WHERE h.kind = p_kind AND h.key = ANY (p_keys) AND h.state = 1
       AND NOT EXISTS (SELECT 1 FROM pawl.aside a WHERE a.kind = p_kind AND a.key = h.key);
    INSERT INTO pawl.hold AS h (kind, key, lane, due_ms, state)
    SELECT p_kind, k.key, p_lane, f.scheduled_ms, 1
      FROM (SELECT DISTINCT u.key COLLATE "C" AS key FROM unnest(p_keys) AS u(key) ORDER BY 1) k
     CROSS JOIN LATERAL (SELECT a.scheduled_ms FROM pawl.aside a
                          WHERE a.kind = p_kind AND a.key = k.key ORDER BY a.seq LIMIT 1) f
    ON CONFLICT (kind, key) DO UPDATE SET due_ms = EXCLUDED.due_ms
     WHERE h.state = 1 AND h.due_ms <> EXCLUDED.due_ms;
END
$$;
