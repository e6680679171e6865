-- wait_for: waits until a perspective has applied a version of a stream; read your own writes.
-- params: perspective: key or name; stream and version; timeout_ms
-- returns: true when it has, false when the time is over
-- raises: PW002 there is no such perspective
-- tables: those of perspective_reached
-- locks: none
-- Call it outside of a longer transaction: one that appended waits for itself.
CREATE OR REPLACE FUNCTION pawl.wait_for(perspective text, stream text, version bigint, timeout_ms integer DEFAULT 5000) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_end timestamptz := clock_timestamp() + make_interval(secs => least(timeout_ms, 3600000) / 1000.0);
    v_pause double precision := 0.005;
BEGIN
    IF num_nulls(perspective, stream, version, timeout_ms) > 0 THEN
        PERFORM pawl.refuse_null(ARRAY['perspective', 'stream', 'version', 'timeout_ms'],
            ARRAY[perspective IS NULL, stream IS NULL, version IS NULL, timeout_ms IS NULL]);
    END IF;
    LOOP
        IF (SELECT r.reached FROM pawl.perspective_reached(perspective, stream, version, 0) r) THEN
            RETURN true;
        END IF;
        IF clock_timestamp() >= v_end THEN
            RETURN false;
        END IF;
        PERFORM pg_sleep(v_pause);
        v_pause := least(v_pause * 2, 0.1);
    END LOOP;
END
$$;
