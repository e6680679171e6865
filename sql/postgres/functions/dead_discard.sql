-- dead_discard: dead letters are thrown away.
-- params: p_kinds smallint[], p_seqs bigint[]
-- returns: one answer per reference: 1 applied, 4 conflict (it is parked behind another), 6 not found
-- tables: dead, aside, hold, tally
-- locks: the lanes concerned in the order (kind, lane), then the holds
CREATE OR REPLACE FUNCTION pawl.dead_discard(p_kinds smallint[], p_seqs bigint[]) RETURNS smallint[]
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT pawl.dead_end(p_kinds, p_seqs, false)
$$;
