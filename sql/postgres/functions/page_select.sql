-- page_select: the items of a page that a named statement selects; it may read, not write.
-- params: p_name text, p_page text (JSON: what is known of the page)
-- returns: key, payload, in the statement's order; nothing when there is no such statement
-- raises: PW001 with what the statement says
-- tables: run_target (read), and what the statement names
-- locks: the statement's
-- Runs with the rights and the search_path of the caller, as the statement must: no SECURITY DEFINER, every name qualified.
CREATE OR REPLACE FUNCTION pawl.page_select(p_name text, p_page text) RETURNS TABLE (key text, payload text)
LANGUAGE plpgsql VOLATILE
AS $$
#variable_conflict use_column
DECLARE
    v_sql text;
BEGIN
    SELECT t.sql INTO v_sql FROM pawl.run_targets() t WHERE t.name OPERATOR(pg_catalog.=) p_name;
    IF v_sql IS NULL THEN
        RETURN;
    END IF;
    PERFORM pg_catalog.set_config('transaction_read_only', 'on', true);
    BEGIN
        RETURN QUERY EXECUTE pg_catalog.format('SELECT q.key::pg_catalog.text, q.payload::pg_catalog.text FROM (%s) AS q(key, payload)',
                                               pg_catalog.rtrim(v_sql, E' \n\t;')) USING p_page::pg_catalog.json;
    EXCEPTION
        WHEN deadlock_detected OR serialization_failure OR lock_not_available OR query_canceled THEN
            RAISE;
        WHEN OTHERS THEN
            RAISE EXCEPTION USING ERRCODE = 'PW001',
                MESSAGE = pg_catalog.format('the statement %s failed: %s', p_name, SQLERRM);
    END;
END
$$;
