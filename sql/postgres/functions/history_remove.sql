-- history_remove: removes history rows that were archived.
-- params: p_kinds smallint[], p_seqs bigint[]
-- returns: how many were there
-- tables: history (deleted)
-- locks: the rows
CREATE OR REPLACE FUNCTION pawl.history_remove(p_kinds smallint[], p_seqs bigint[]) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_count bigint;
BEGIN
    DELETE FROM pawl.history h USING unnest(p_kinds, p_seqs) AS u(kind, seq) WHERE h.kind = u.kind AND h.seq = u.seq;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$$;
