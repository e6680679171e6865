-- epoch_raise: for a restored database: every token granted before is older than every token granted after.
-- params: p_cause smallint: 1 asked, 3 another cluster
-- returns: the new epoch
-- tables: settings (written), lane (written: what it knew of transaction ids is forgotten)
-- locks: all lanes, the settings row
CREATE OR REPLACE FUNCTION pawl.epoch_raise(p_cause smallint DEFAULT 1::smallint) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_epoch bigint;
BEGIN
    PERFORM 1 FROM pawl.lane l ORDER BY l.kind, l.lane FOR UPDATE;
    -- Another cluster counts other transactions: read every lane from its beginning once.
    UPDATE pawl.lane l SET low = 0, cut_seqs = '{}', cut_xids = '{}', open_xids = '{}', seen_xmax = NULL;
    UPDATE pawl.settings s SET epoch = s.epoch + 1, epoch_ms = pawl.now_ms(), epoch_cause = p_cause RETURNING s.epoch INTO v_epoch;
    RETURN v_epoch;
END
$$;
