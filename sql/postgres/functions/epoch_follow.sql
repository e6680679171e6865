-- epoch_follow: raises the epoch when the server has another past than the tokens that were given: after a promotion, and when
-- a token is known that it never gave, so that it must have lost commits.
-- params: p_seen bigint: the highest token that somebody got from it; 0: none
-- returns: the epoch
-- raises: PW001 the token is of an epoch far ahead
-- tables: settings (read; written when the epoch is raised)
-- locks: the settings row, only when it is written
-- The timeline is read from the current WAL file's name: the control checkpoint still shows the old one right after a
-- promotion.
CREATE OR REPLACE FUNCTION pawl.epoch_follow(p_seen bigint) RETURNS bigint
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
        UPDATE pawl.settings s SET epoch = s.epoch + 1, timeline = v_timeline, epoch_ms = pawl.now_ms(), epoch_cause = 2
         WHERE s.timeline IS DISTINCT FROM v_timeline;
        SELECT s.epoch INTO v_epoch FROM pawl.settings s;
    END IF;
    IF p_seen > 0 AND p_seen > (SELECT (v_epoch << 40) | q.last_value FROM pawl.token_seq q) THEN
        IF p_seen >> 40 > v_epoch + 1000 THEN
            RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format('seen %s is no token of this store: its epoch is %s', p_seen, v_epoch);
        END IF;
        UPDATE pawl.settings s SET epoch = (p_seen >> 40) + 1, epoch_ms = pawl.now_ms(), epoch_cause = 4
         WHERE s.epoch <= p_seen >> 40;
        SELECT s.epoch INTO v_epoch FROM pawl.settings s;
    END IF;
    RETURN v_epoch;
END
$$;
