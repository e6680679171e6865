-- view_message: every message with an id, in any state.
-- params: p_id uuid
-- returns: message_row, by seq
-- tables: those of message_all (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.view_message(p_id uuid) RETURNS SETOF pawl.message_row
LANGUAGE sql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
    SELECT v.* FROM pawl.message_all v WHERE v.id = p_id ORDER BY v.seq
$$;
