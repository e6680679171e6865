-- payload_hash: the first 8 bytes of the SHA-256 of a payload, as base/hash.h hash_payload computes it.
-- params: p_payload json
-- returns: bigint
-- tables: none
-- locks: none
CREATE OR REPLACE FUNCTION pawl.payload_hash(p_payload json) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ('x' || encode(substring(sha256(convert_to(p_payload::text, 'UTF8')) FROM 1 FOR 8), 'hex'))::bit(64)::bigint
$$;
