-- uuid7: a new UUIDv7: 48 bits of wall-clock milliseconds, then random bits.
-- returns: uuid
-- tables: none
-- locks: none
CREATE OR REPLACE FUNCTION pawl.uuid7() RETURNS uuid
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    -- gen_random_uuid() has version 4 (0100); bits 52 and 53 make it 7 (0111).
    SELECT encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
                                          PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3)
                                          FROM 1 FOR 6),
                                  52, 1), 53, 1), 'hex')::uuid
$$;
