-- perspective_reset: tries failed checkpoints again, or rebuilds a perspective from the first event on.
-- params: p_key, p_mode smallint: 1 failed, 2 rebuild; p_streams text[]: NULL: all
-- returns: how many checkpoints
-- raises: PW002 there is no such perspective; PW003 streams are named, and the clear statement takes none
-- tables: those of reset_checkpoints, and what the perspective's clear statement names
-- locks: those of reset_checkpoints, and the statement's
-- The clear statement runs with the rights and the search_path of the caller, behind the checkpoints: nothing is applied meanwhile.
CREATE OR REPLACE FUNCTION pawl.perspective_reset(p_key text, p_mode smallint, p_streams text[]) RETURNS bigint
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
    v_count bigint := pawl.reset_checkpoints(p_key, p_mode, p_streams);
    v_clear text := pawl.apply_target(p_key, true);
BEGIN
    IF p_mode = 2 AND v_clear IS NOT NULL THEN
        IF p_streams IS NOT NULL AND position('$1' IN v_clear) = 0 THEN
            RAISE EXCEPTION USING ERRCODE = 'PW003', MESSAGE = pg_catalog.format(
                'the clear statement of %s has no parameter for the streams and would empty the whole model: rebuild all of it', p_key);
        END IF;
        EXECUTE v_clear USING pg_catalog.array_to_json(p_streams);
    END IF;
    RETURN v_count;
END
$$;
