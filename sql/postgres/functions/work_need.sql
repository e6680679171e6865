-- work_need: refuses an array of process_work_batch with an item that lacks a key, by the names that the caller wrote.
-- params: p_name: of the parameter; p_list (NULL: nothing to look at); p_keys: what every item must have
-- returns: nothing
-- raises: PW001 which item of which parameter lacks which key
-- tables: none
-- locks: none
CREATE OR REPLACE FUNCTION pawl.work_need(p_name text, p_list jsonb, p_keys text[]) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_item record;
BEGIN
    IF p_list IS NULL THEN
        RETURN;
    END IF;
    IF jsonb_typeof(p_list) <> 'array' THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format('%s is a JSON array of objects, or NULL', p_name);
    END IF;
    SELECT e.n, jsonb_typeof(e.x) = 'object' AS object, k.key INTO v_item
      FROM jsonb_array_elements(p_list) WITH ORDINALITY AS e(x, n) CROSS JOIN unnest(p_keys) WITH ORDINALITY AS k(key, m)
     WHERE jsonb_typeof(e.x) <> 'object' OR e.x ->> k.key IS NULL ORDER BY e.n, k.m LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format(
            CASE WHEN v_item.object THEN 'item %s of %s lacks %s; every item names %s'
                 ELSE 'item %s of %s is no object; every item names %4$s' END,
            v_item.n, p_name, v_item.key, array_to_string(p_keys, ', '));
    END IF;
END
$$;
