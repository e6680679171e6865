-- xid_widen: the 64-bit form of a transaction id that was drawn in this transaction.
-- params: p_xid xid: the xmin of a row that this transaction wrote
-- returns: xid8
-- tables: none
-- locks: none
CREATE OR REPLACE FUNCTION pawl.xid_widen(p_xid xid) RETURNS xid8
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_own bigint := pg_current_xact_id()::text::bigint;
    v_wide bigint := ((v_own >> 32) << 32) | p_xid::text::bigint;
BEGIN
    -- The lower half of a subtransaction's id may have wrapped since the transaction began.
    RETURN (v_wide + CASE WHEN v_wide < v_own THEN 4294967296 ELSE 0 END)::text::xid8;
END
$$;
