-- token_next: the next token of the schema, epoch << 40 | counter; raises the epoch after a failover.
-- returns: bigint, greater than every token given before
-- tables: settings (read; written when the timeline of the server has changed)
-- locks: the settings row, only when it is written
-- The timeline is read from the current WAL file's name: the control checkpoint still shows the old one right after a
-- promotion.
CREATE OR REPLACE FUNCTION pawl.token_next() RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_timeline text := left(pg_walfile_name(pg_current_wal_lsn()), 8);
    v_epoch bigint;
    v_known text;
BEGIN
    SELECT s.epoch, s.timeline INTO v_epoch, v_known FROM pawl.settings s;
    IF v_known IS DISTINCT FROM v_timeline THEN
        UPDATE pawl.settings s SET epoch = s.epoch + 1, timeline = v_timeline
         WHERE s.timeline IS DISTINCT FROM v_timeline;
        SELECT s.epoch INTO v_epoch FROM pawl.settings s;
    END IF;
    RETURN (v_epoch << 40) | nextval('pawl.token_seq');
END
$$;
