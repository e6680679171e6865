-- refuse_null: says which arguments of a call are missing.
-- params: p_names text[], p_missing boolean[]: of each argument that must be given
-- returns: nothing
-- raises: PW001 one of them is NULL
-- tables: none
-- locks: none
CREATE OR REPLACE FUNCTION pawl.refuse_null(p_names text[], p_missing boolean[]) RETURNS void
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_missing text := (SELECT string_agg(a.name, ', ' ORDER BY a.n) FROM unnest(p_names, p_missing) WITH ORDINALITY AS a(name, missing, n)
                        WHERE a.missing);
BEGIN
    IF v_missing IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format('NULL in place of %s; give it a value, or leave it out where it has a default', v_missing);
    END IF;
END
$$;
