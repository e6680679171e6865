-- pattern_regex: checks a pattern and makes the regular expression for it that pattern_matches takes.
-- params: p_mode smallint: 1 exact, 2 suffix, 3 glob, 4 regex; p_text text
-- returns: text in small letters, as domain/event_pattern.h makes it
-- raises: PW001 the pattern is wrong or too costly; the message says where
-- tables: none
-- locks: none
CREATE OR REPLACE FUNCTION pawl.pattern_regex(p_mode smallint, p_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_text text := p_text;
    v_wrong text;
    v_literal text;
BEGIN
    IF coalesce(octet_length(v_text), 0) NOT BETWEEN 1 AND 256 THEN
        v_wrong := 'it must have 1 to 256 bytes';
    ELSIF v_text ~ '[^\x20-\x7e]' THEN
        v_wrong := 'only printable ASCII characters are allowed';
    ELSIF p_mode = 4 THEN
        v_text := CASE WHEN left(v_text, 1) = '^' THEN substr(v_text, 2) ELSE v_text END;
        IF right(v_text, 1) = '$' AND right(v_text, 2) <> '\$' THEN
            v_text := left(v_text, -1);
        END IF;
        v_wrong := pawl.pattern_fault(v_text);
    ELSIF p_mode NOT BETWEEN 1 AND 3 THEN
        v_wrong := format('mode %s is unknown; use 1 exact, 2 suffix, 3 glob, 4 regex', p_mode);
    END IF;
    IF v_wrong IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format('pattern "%s": %s', left(p_text, 256), v_wrong);
    END IF;
    v_text := lower(v_text COLLATE "C");
    IF p_mode = 4 THEN
        RETURN v_text;
    END IF;
    v_literal := regexp_replace(v_text, '([^a-z0-9_ ])', '\\\1', 'g');
    RETURN CASE p_mode WHEN 1 THEN v_literal
                       WHEN 2 THEN '(?:.*[.+/:])?' || v_literal
                       ELSE replace(replace(regexp_replace(v_literal, '(\\\*)+', '\*', 'g'), '\*', '.*'), '\?', '.') END;
END
$$;
