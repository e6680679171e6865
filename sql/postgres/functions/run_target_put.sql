-- run_target_put: names a statement that stores the items of pages in a table of the user's.
-- params: p_name text, p_sql text: one parameter, a JSON array of {"run", "partition", "key", "payload"}
-- returns: nothing
-- tables: run_target
-- locks: its row
CREATE OR REPLACE FUNCTION pawl.run_target_put(p_name text, p_sql text) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO pawl.run_target (name, sql, updated_ms) VALUES (p_name, p_sql, pawl.now_ms())
    ON CONFLICT (name) DO UPDATE SET sql = excluded.sql, updated_ms = excluded.updated_ms;
END
$$;
