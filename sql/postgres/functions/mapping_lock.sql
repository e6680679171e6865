-- mapping_lock: waits for open appends and holds new ones back until the transaction ends.
-- params: p_wait_ms integer: for how long in all
-- returns: nothing
-- raises: PW005 an append stayed open
-- tables: none
-- locks: the mappings, exclusively
-- New appends queue behind a waiting lock, so it waits a quarter of a second at a time and lets them pass in between.
CREATE OR REPLACE FUNCTION pawl.mapping_lock(p_wait_ms integer) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_end timestamptz := clock_timestamp() + make_interval(secs => p_wait_ms / 1000.0);
    v_before text := current_setting('lock_timeout');
BEGIN
    LOOP
        BEGIN
            PERFORM set_config('lock_timeout', '250ms', true);
            PERFORM pg_advisory_xact_lock(hashtextextended('mappings of pawl.', 0));
            PERFORM set_config('lock_timeout', v_before, true);
            RETURN;
        EXCEPTION WHEN lock_not_available THEN
            NULL;
        END;
        IF clock_timestamp() > v_end THEN
            RAISE EXCEPTION USING ERRCODE = 'PW005',
                MESSAGE = 'a transaction that appended events stays open; end it, or try again later';
        END IF;
        PERFORM pg_sleep(0.05);
    END LOOP;
END
$$;
