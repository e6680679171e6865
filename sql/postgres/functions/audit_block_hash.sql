-- audit_block_hash: the hash of a block, the same as src/domain/authority/audit.h computes.
-- params: p_previous bytea: the hash of the block before; the fields of the block
-- returns: SHA-256
-- tables: none
-- locks: none
CREATE OR REPLACE FUNCTION pawl.audit_block_hash(
    p_previous bytea, p_chain uuid, p_number bigint, p_id bigint, p_made bigint, p_entries bytea) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN sha256(p_previous || uuid_send(p_chain) || int8send(p_number) || int8send(p_id) || int8send(p_made) || p_entries);
END
$$;
