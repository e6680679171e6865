-- fingerprint: errors of one cause share it, whatever ids and numbers stand in their texts.
-- params: p_error text
-- returns: 16 hex digits, as domain/fingerprint.h computes them; NULL for NULL
-- tables: none
-- locks: none
CREATE OR REPLACE FUNCTION pawl.fingerprint(p_error text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    c_piece constant text :=
        '(?<![A-Za-z0-9_])''[^'']*''|(?<![A-Za-z0-9_])"[^"]*"'
        || '|(?<![A-Za-z0-9_])[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}(?![A-Za-z0-9_])'
        || '|(?<![A-Za-z0-9_])0[xX][0-9A-Fa-f]+(?![A-Za-z0-9_])'
        || '|(?<![A-Za-z0-9_])(?=[A-Fa-f]*[0-9])(?=[0-9]*[A-Fa-f])[0-9A-Fa-f]{8,}(?![A-Za-z0-9_])'
        || '|[0-9]+|[ \t\r]+|.';
    v_line text;
    v_piece text;
    v_out text := '';
BEGIN
    IF p_error IS NULL THEN
        RETURN NULL;
    END IF;
    v_line := btrim(split_part(btrim(p_error, E' \t\r\n'), E'\n', 1), E' \t\r\n');
    FOR v_piece IN SELECT m[1] FROM regexp_matches(v_line, '(' || c_piece || ')', 'g') AS m LOOP
        v_piece := CASE
            WHEN length(v_piece) = 1 AND v_piece !~ '[0-9 \t\r]' THEN v_piece
            WHEN v_piece ~ '^[ \t\r]' THEN ' '
            WHEN v_piece ~ '^[''"]' THEN '<s>'
            WHEN v_piece ~ '^[0-9]+$' THEN '<n>'
            WHEN v_piece ~ '-' THEN '<uuid>'
            ELSE '<hex>' END;
        -- A piece that does not fit ends the pattern.
        EXIT WHEN octet_length(v_out) + octet_length(v_piece) > 200;
        v_out := v_out || v_piece;
    END LOOP;
    RETURN lpad(to_hex(hashtextextended(rtrim(v_out, ' '), 0)), 16, '0');
END
$$;
