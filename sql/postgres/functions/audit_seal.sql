-- audit_seal: ends the block of one call: the entries of its rows, linked to the chain of the caller.
-- params: p_block bigint, p_chain uuid (NULL: nobody's), p_entries bytea (40 bytes per row), p_now bigint
-- returns: nothing
-- tables: audit_block (inserted), audit_chain (inserted, updated)
-- locks: the head of the chain, the last lock of a call
CREATE OR REPLACE FUNCTION pawl.audit_seal(p_block bigint, p_chain uuid, p_entries bytea, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_chain uuid := coalesce(p_chain, '00000000-0000-0000-0000-000000000000');
    v_number bigint;
    v_previous bytea;
    v_hash bytea;
BEGIN
    IF octet_length(p_entries) = 0 THEN
        RETURN;
    END IF;
    INSERT INTO pawl.audit_chain (chain, number, hash) VALUES (v_chain, 0, decode(repeat('00', 32), 'hex'))
        ON CONFLICT (chain) DO NOTHING;
    SELECT c.number, c.hash INTO v_number, v_previous FROM pawl.audit_chain c WHERE c.chain = v_chain FOR UPDATE;
    v_hash := pawl.audit_block_hash(v_previous, v_chain, v_number + 1, p_block, p_now, p_entries);
    INSERT INTO pawl.audit_block (id, chain, number, rows, made_ms, previous, hash, entries)
    VALUES (p_block, v_chain, v_number + 1, octet_length(p_entries) / 40, p_now, v_previous, v_hash, p_entries);
    UPDATE pawl.audit_chain c SET number = v_number + 1, hash = v_hash WHERE c.chain = v_chain;
END
$$;
