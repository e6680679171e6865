-- dead_redrive: dead letters go back to work.
-- params: p_kinds smallint[], p_seqs bigint[]
-- returns: one answer per reference: 1 applied, 4 conflict (it is parked behind another), 6 not found
-- tables: dead, aside, hold, tally
-- locks: the lanes concerned in the order (kind, lane), then the holds
CREATE OR REPLACE FUNCTION pawl.dead_redrive(p_kinds smallint[], p_seqs bigint[]) RETURNS smallint[]
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT pawl.dead_end(p_kinds, p_seqs, true)
$$;
