-- view_message: every message with an id, in any state.
-- params: p_id uuid
-- returns: message_row, by seq; payload, headers and error only for who may see payloads
-- tables: those of message_all (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.view_message(p_id uuid) RETURNS SETOF pawl.message_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_shown boolean := pawl.payloads_shown();
    v_row pawl.message_row;
BEGIN
    FOR v_row IN SELECT v.* FROM pawl.message_all v WHERE v.id = p_id ORDER BY v.seq LOOP
        IF NOT v_shown THEN
            v_row.payload := NULL;
            v_row.headers := NULL;
            v_row.error := NULL;
        END IF;
        RETURN NEXT v_row;
    END LOOP;
END
$$;
