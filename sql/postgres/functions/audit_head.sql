-- audit_head: the last anchor of the audit.
-- returns: number 0 and no hash when there is none
-- tables: audit_anchor (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.audit_head(OUT number bigint, OUT made_ms bigint, OUT hash text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    SELECT a.number, a.made_ms, encode(a.hash, 'hex') INTO number, made_ms, hash
      FROM pawl.audit_anchor a ORDER BY a.number DESC LIMIT 1;
    number := coalesce(number, 0);
    made_ms := coalesce(made_ms, 0);
END
$$;
