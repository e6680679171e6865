-- pattern_fault: what keeps a regular expression from being accepted; the subset is that of docs/events.md.
-- params: p_text text, printable ASCII
-- returns: NULL when it is right, else what is wrong, as domain/event_pattern.h says it
-- tables: none
-- locks: none
CREATE OR REPLACE FUNCTION pawl.pattern_fault(p_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_at integer := 1;
    v_char text;
    v_atom integer := 0;           -- before us: 0 nothing, 1 an atom, 2 a group that repeats something
    v_groups boolean[] := '{}';    -- per open group: was something repeated in it
    v_repeats boolean := false;
    v_count integer := 0;
    v_part text;
    v_bounds text[];
BEGIN
    WHILE v_at <= length(p_text) LOOP
        v_char := substr(p_text, v_at, 1);
        v_part := NULL;
        IF v_char = '\' THEN
            IF substr(p_text, v_at + 1, 1) !~ '^[^a-zA-Z0-9]$' THEN
                RETURN format('character %s: a backslash stands before punctuation only', v_at);
            END IF;
            v_at := v_at + 1;
            v_atom := 1;
        ELSIF v_char = '[' THEN
            v_part := substring(substr(p_text, v_at) FROM '^\[\^?(?:[0-9]-[0-9]|[a-z]-[a-z]|[A-Z]-[A-Z]|[a-zA-Z0-9_.+/:, ])+\]');
            IF v_part IS NULL OR EXISTS (SELECT 1 FROM regexp_matches(v_part, '([0-9a-zA-Z])-([0-9a-zA-Z])', 'g') AS m
                                          WHERE m[1] COLLATE "C" > m[2]) THEN
                RETURN format('character %s: a class holds letters, digits, _ . + / : , blank and ranges inside a-z, A-Z or 0-9', v_at);
            END IF;
            v_at := v_at + length(v_part) - 1;
            v_atom := 1;
        ELSIF v_char = '(' THEN
            IF substr(p_text, v_at + 1, 1) = '?' THEN
                RETURN format('character %s: groups are plain; (? is not in the shared subset', v_at);
            END IF;
            IF cardinality(v_groups) >= 8 THEN
                RETURN format('character %s: groups are nested too deeply', v_at);
            END IF;
            v_groups := v_groups || v_repeats;
            v_repeats := false;
            v_atom := 0;
        ELSIF v_char = ')' THEN
            IF cardinality(v_groups) = 0 OR v_atom = 0 THEN
                RETURN format('character %s: this ) closes nothing, or an empty alternative', v_at);
            END IF;
            v_atom := CASE WHEN v_repeats THEN 2 ELSE 1 END;
            v_repeats := v_repeats OR v_groups[cardinality(v_groups)];
            v_groups := v_groups[1 : cardinality(v_groups) - 1];
        ELSIF v_char = '|' THEN
            IF v_atom = 0 THEN
                RETURN format('character %s: an alternative is empty', v_at);
            END IF;
            v_atom := 0;
        ELSIF v_char IN ('*', '+', '?', '{') THEN
            v_part := substring(substr(p_text, v_at) FROM '^(?:[*+?]|\{[0-9]{1,3}(?:,[0-9]{1,3})?\})');
            IF v_part IS NULL THEN
                RETURN format('character %s: write a count as {m} or {m,n}', v_at);
            END IF;
            v_bounds := regexp_split_to_array(btrim(v_part, '{}*+?'), ',');
            IF v_char = '{' AND (v_bounds[cardinality(v_bounds)]::integer NOT BETWEEN greatest(1, v_bounds[1]::integer) AND 100) THEN
                RETURN format('character %s: a count is from 1 to 100', v_at);
            END IF;
            IF v_atom = 0 THEN
                RETURN format('character %s: nothing stands before it to repeat', v_at);
            END IF;
            IF v_atom = 2 AND v_char <> '?' THEN
                RETURN format('character %s: what repeats something must not be repeated itself', v_at);
            END IF;
            v_count := v_count + 1;
            IF v_count > 20 THEN
                RETURN format('character %s: more than 20 repetitions', v_at);
            END IF;
            v_repeats := v_repeats OR v_char <> '?';
            v_at := v_at + length(v_part) - 1;
            v_atom := 0;
            IF substr(p_text, v_at + 1, 1) IN ('*', '+', '?', '{') THEN
                RETURN format('character %s: a repetition cannot be repeated', v_at + 1);
            END IF;
            v_atom := 3; -- complete, but not to be repeated
        ELSIF v_char IN ('^', '$', ']', '}') THEN
            RETURN format('character %s: write \%s for the character itself', v_at, v_char);
        ELSE
            v_atom := 1;
        END IF;
        v_at := v_at + 1;
    END LOOP;
    IF cardinality(v_groups) > 0 THEN
        RETURN 'a ( is not closed';
    END IF;
    IF v_atom = 0 THEN
        RETURN 'it ends with an empty alternative';
    END IF;
    RETURN NULL;
END
$$;
