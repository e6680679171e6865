-- epoch_follow: raises the epoch when the server has another past than the tokens that were given: after a promotion, and when
-- a token is known that it never gave, so that it must have lost commits.
-- params: p_seen bigint: the highest token that somebody got from it; 0: none
-- returns: the epoch, as epoch_now
-- raises: PW001 the token is of an epoch far ahead
-- tables: settings (read; written when the epoch is raised)
-- locks: the settings row, only when it is written (skip locked: a later call writes it)
-- Only the calls with which a worker says that it lives come here, which are short. While a transaction has the settings the
-- epoch of a promotion is computed and not written (epoch_now), and that of lost commits is not raised yet.
-- The timeline is read from the current WAL file's name: the control checkpoint still shows the old one right after a
-- promotion.
CREATE OR REPLACE FUNCTION pawl.epoch_follow(p_seen bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_timeline text := left(pg_walfile_name(pg_current_wal_lsn()), 8);
    v_epoch bigint;
BEGIN
    IF EXISTS (SELECT 1 FROM pawl.settings s WHERE s.timeline IS DISTINCT FROM v_timeline) THEN
        PERFORM 1 FROM pawl.settings s FOR NO KEY UPDATE SKIP LOCKED;
        IF FOUND THEN
            UPDATE pawl.settings s SET epoch = pawl.epoch_now(), timeline = v_timeline, epoch_ms = pawl.now_ms(), epoch_cause = 2
             WHERE s.timeline IS DISTINCT FROM v_timeline;
        END IF;
    END IF;
    v_epoch := pawl.epoch_now();
    IF p_seen > 0 AND p_seen > (SELECT (v_epoch << 40) | q.last_value FROM pawl.token_seq q) THEN
        IF p_seen >> 40 > v_epoch + 1000 THEN
            RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format('seen %s is no token of this store: its epoch is %s', p_seen, v_epoch);
        END IF;
        PERFORM 1 FROM pawl.settings s FOR NO KEY UPDATE SKIP LOCKED;
        IF FOUND THEN
            UPDATE pawl.settings s SET epoch = (p_seen >> 40) + 1, epoch_ms = pawl.now_ms(), epoch_cause = 4
             WHERE s.epoch <= p_seen >> 40;
            v_epoch := pawl.epoch_now();
        END IF;
    END IF;
    RETURN v_epoch;
END
$$;
