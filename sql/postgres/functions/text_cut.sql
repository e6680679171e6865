-- text_cut: the longest prefix of a text with at most so many bytes of UTF-8, without half a character.
-- params: p_text text, p_bytes_max integer
-- returns: text
-- tables: none
-- locks: none
CREATE OR REPLACE FUNCTION pawl.text_cut(p_text text, p_bytes_max integer) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_cut text;
BEGIN
    IF p_text IS NULL OR octet_length(p_text) <= p_bytes_max THEN
        RETURN p_text;
    END IF;
    v_cut := left(p_text, p_bytes_max);
    WHILE octet_length(v_cut) > p_bytes_max LOOP
        -- A character has at most 4 bytes, so this many are surely too many; at least one goes.
        v_cut := left(v_cut, length(v_cut) - greatest(1, (octet_length(v_cut) - p_bytes_max) / 4));
    END LOOP;
    RETURN v_cut;
END
$$;
