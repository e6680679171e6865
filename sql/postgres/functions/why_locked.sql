-- why_locked: whose open transaction has locked what a message needs to go on: everybody else leaves it alone until then.
-- params: p_kind smallint, p_lane integer, p_seq bigint, p_key text: the key of its hold
-- returns: NULLs when nothing is locked; else locked: lane, claim, stream or instance; and the pid of the session. Since when
--          is the caller's to look up: the owner of the functions may not see it.
-- tables: lane, claim, instance, hold (read)
-- locks: none
-- The xmax of a row names the transaction that locks it, or the several ids of one that used subtransactions. A row that was
-- locked only in a subtransaction which has ended is not seen.
CREATE OR REPLACE FUNCTION pawl.why_locked(
    p_kind smallint, p_lane integer, p_seq bigint, p_key text,
    OUT locked text, OUT pid integer)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_row record;
    v_xids xid[];
BEGIN
    FOR v_row IN
        SELECT 'lane' AS what, 'pawl.lane'::regclass AS relation, l.xmax AS xid FROM pawl.lane l
         WHERE l.kind = p_kind AND l.lane = p_lane
        UNION ALL
        SELECT 'claim', 'pawl.claim'::regclass, c.xmax FROM pawl.claim c
         WHERE c.kind = p_kind AND c.lane = p_lane AND c.state = 1 AND p_seq = ANY (c.seqs)
        UNION ALL
        SELECT 'stream', 'pawl.hold'::regclass, h.xmax FROM pawl.hold h WHERE h.kind = p_kind AND h.key = p_key
        UNION ALL
        SELECT 'instance', 'pawl.instance'::regclass, i.xmax FROM pawl.lane l JOIN pawl.instance i ON i.id = l.owner
         WHERE l.kind = p_kind AND l.lane = p_lane
    LOOP
        CONTINUE WHEN v_row.xid = '0'::xid;
        v_xids := ARRAY[v_row.xid];
        BEGIN
            v_xids := v_xids || ARRAY(SELECT m.xid FROM pg_get_multixact_members(v_row.xid) m);
        EXCEPTION WHEN OTHERS THEN
            NULL; -- it is the id of one transaction
        END;
        SELECT v_row.what, k.pid INTO locked, pid FROM pg_locks k
         WHERE k.locktype = 'transactionid' AND k.granted AND k.transactionid = ANY (v_xids)
           AND EXISTS (SELECT 1 FROM pg_locks r WHERE r.pid = k.pid AND r.locktype = 'relation' AND r.relation = v_row.relation
                          AND r.mode IN ('RowShareLock', 'RowExclusiveLock'))
         LIMIT 1;
        EXIT WHEN FOUND;
    END LOOP;
END
$$;
