-- xid_widen: the 64-bit form of a transaction id that was drawn in this transaction.
-- params: p_xid xid: the xmin of a row that this transaction wrote
-- returns: xid8
-- tables: none
-- locks: none
CREATE OR REPLACE FUNCTION pawl.xid_widen(p_xid xid) RETURNS xid8
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
    -- The lower half of a subtransaction's id may have wrapped since the transaction began.
    SELECT (w.wide + CASE WHEN w.wide < w.own THEN 4294967296 ELSE 0 END)::text::xid8
      FROM (SELECT o.own, ((o.own >> 32) << 32) | p_xid::text::bigint AS wide
              FROM (SELECT pg_current_xact_id()::text::bigint AS own) o) w
$$;
