-- partition_of: the partition of a stream: its unsigned 64-bit hash modulo the number of partitions.
-- params: p_key text: the stream, or the text form of the id of a message without one; p_count integer
-- returns: 0 … p_count - 1, as base/hash.h partition_of computes it
-- tables: none
-- locks: none
-- The hash is read as unsigned: a negative one stands for itself + 2^64, and 2^64 mod n is added to its remainder.
CREATE OR REPLACE FUNCTION pawl.partition_of(p_key text, p_count integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ((h.hash % p_count + p_count
             + CASE WHEN h.hash < 0 THEN (4294967296 % p_count) * (4294967296 % p_count) % p_count ELSE 0 END)
            % p_count)::integer
      FROM (SELECT hashtextextended(p_key, 0) AS hash OFFSET 0) h
$$;
