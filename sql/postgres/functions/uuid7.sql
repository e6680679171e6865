-- uuid7: a new UUIDv7: 48 bits of wall-clock milliseconds, then random bits.
-- returns: uuid
-- tables: none
-- locks: none
-- Written out by the planner where it is called, as send: the caller's rights, and every name qualified.
CREATE OR REPLACE FUNCTION pawl.uuid7() RETURNS uuid
LANGUAGE sql VOLATILE
AS $$
    -- gen_random_uuid() has version 4 (0100); bits 52 and 53 make it 7 (0111).
    SELECT pg_catalog.encode(pg_catalog.set_bit(pg_catalog.set_bit(
               overlay(pg_catalog.uuid_send(pg_catalog.gen_random_uuid())
                       PLACING substring(pg_catalog.int8send((extract(epoch FROM pg_catalog.clock_timestamp())
                                                              OPERATOR(pg_catalog.*) 1000)::bigint) FROM 3)
                       FROM 1 FOR 6),
               52, 1), 53, 1), 'hex')::pg_catalog.uuid
$$;
