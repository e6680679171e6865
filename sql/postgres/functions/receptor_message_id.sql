-- receptor_message_id: the id of the message that a receptor gets for an event; that of receptor_message in C.
-- params: p_event uuid, p_name text
-- returns: uuid: the first six bytes of the event's, then a hash of both, marked as version 8
-- tables: none
-- locks: none
CREATE OR REPLACE FUNCTION pawl.receptor_message_id(p_event uuid, p_name text) RETURNS uuid
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_hash bytea := substring(sha256(convert_to(p_event::text || '/' || p_name, 'UTF8')) FROM 1 FOR 10);
BEGIN
    v_hash := set_byte(v_hash, 0, get_byte(v_hash, 0) & 15 | 128);
    v_hash := set_byte(v_hash, 2, get_byte(v_hash, 2) & 63 | 128);
    RETURN (left(replace(p_event::text, '-', ''), 12) || encode(v_hash, 'hex'))::uuid;
END
$$;
