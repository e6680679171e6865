-- receptor_register: registers a receptor on events, or gives it other patterns.
-- params: p_modes, p_texts: its patterns; p_from_start: a new one also gets the events that are there; p_replace: one that
--         is there gets these patterns, from its position on
-- returns: 1 applied, 2 duplicate, 4 conflict: it has other patterns
-- raises: PW001 the name or a pattern is wrong
-- tables: event_receptor, pattern; those of events_stamp
-- locks: the receptor's row; those of events_stamp
CREATE OR REPLACE FUNCTION pawl.receptor_register(
    p_name text, p_modes smallint[], p_texts text[], p_from_start boolean, p_replace boolean) RETURNS smallint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
DECLARE
    v_key text := 'event:' || p_name;
BEGIN
    IF coalesce(p_name, '') !~ '^[A-Za-z0-9_.-]{1,100}$' THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001',
            MESSAGE = 'the name of a receptor has 1 to 100 letters, digits, dots, dashes and underscores';
    END IF;
    IF coalesce(cardinality(p_texts), 0) NOT BETWEEN 1 AND 64 OR cardinality(p_modes) <> cardinality(p_texts) THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = 'name from 1 to 64 patterns, each with its mode';
    END IF;
    PERFORM pawl.pattern_regex(u.mode, u.text) FROM unnest(p_modes, p_texts) AS u(mode, text);
    IF NOT p_from_start THEN
        PERFORM pawl.events_stamp(10000); -- what was committed before is not meant
    END IF;
    LOOP
        INSERT INTO pawl.event_receptor (name, position, registered_ms)
        SELECT p_name, CASE WHEN p_from_start THEN 0 ELSE s.position END, pawl.now_ms() FROM pawl.stamper s
            ON CONFLICT (name) DO NOTHING;
        EXIT WHEN FOUND;
        PERFORM 1 FROM pawl.event_receptor r WHERE r.name = p_name FOR UPDATE;
        CONTINUE WHEN NOT FOUND; -- removed meanwhile
        IF ARRAY(SELECT t.mode || ' ' || t.text FROM pawl.pattern t WHERE t.key = v_key ORDER BY t.n)
           = ARRAY(SELECT u.mode || ' ' || u.text FROM unnest(p_modes, p_texts) WITH ORDINALITY AS u(mode, text, n) ORDER BY u.n) THEN
            RETURN 2;
        END IF;
        IF NOT p_replace THEN
            RETURN 4;
        END IF;
        DELETE FROM pawl.pattern t WHERE t.key = v_key;
        EXIT;
    END LOOP;
    INSERT INTO pawl.pattern (key, n, mode, text, regex)
    SELECT v_key, u.n, u.mode, u.text, pawl.pattern_regex(u.mode, u.text)
      FROM unnest(p_modes, p_texts) WITH ORDINALITY AS u(mode, text, n);
    RETURN 1;
END
$$;
