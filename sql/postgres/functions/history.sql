-- history: finished messages that are kept.

-- name: history_remove
-- Removes history rows that were archived.
-- params: p_kinds smallint[], p_seqs bigint[]
-- returns: how many were there
-- tables: history (deleted)
-- locks: the rows
CREATE OR REPLACE FUNCTION pawl.history_remove(p_kinds smallint[], p_seqs bigint[]) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_count bigint;
BEGIN
    PERFORM pawl.refuse_items(ARRAY['p_seqs', 'p_kinds'],
                              ARRAY[cardinality(p_seqs), cardinality(p_kinds)],
                              ARRAY[array_position(p_seqs, NULL), array_position(p_kinds, NULL)]);
    DELETE FROM pawl.history h USING unnest(p_kinds, p_seqs) AS u(kind, seq) WHERE h.kind = u.kind AND h.seq = u.seq;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$$;
