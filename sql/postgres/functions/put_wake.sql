-- put_wake: wakes the workers that wait for work of a kind; under load nobody waits, and nobody pays for a notification.
-- params: p_kind smallint, p_now bigint, p_lane integer: where the only message went (NULL: look everywhere)
-- returns: nothing
-- tables: waiter (read when wait_seq says that somebody waits)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.put_wake(p_kind smallint, p_now bigint, p_lane integer DEFAULT NULL) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF pg_sequence_last_value('pawl.wait_seq') > p_now
       AND EXISTS (SELECT 1 FROM pawl.waiter w WHERE w.kinds & (1 << p_kind) <> 0 AND w.until_ms > p_now) THEN
        PERFORM pg_notify('pawl.wake', coalesce(p_kind || '.' || p_lane, ''));
    END IF;
END
$$;
