-- floor_table: a copy of pawl.message, with its indexes, defaults and storage settings but without anything around it.
-- A put checks these limits in its function; a table that is written to by plain INSERTs checks them itself.
DROP SCHEMA IF EXISTS bench CASCADE;
CREATE SCHEMA bench;
CREATE TABLE bench.message (
    LIKE pawl.message INCLUDING ALL,
    CHECK (kind BETWEEN 1 AND 3),
    CHECK (octet_length(stream) BETWEEN 1 AND 200),
    CHECK (octet_length(topic) <= 200),
    CHECK (octet_length(type) BETWEEN 1 AND 200),
    CHECK (octet_length(payload::text) <= 16777216),
    CHECK (octet_length(headers::text) <= 65536),
    CHECK (kind <> 2 OR octet_length(consumer) BETWEEN 1 AND 128)
);
CREATE SEQUENCE bench.message_seq;
DO $$
DECLARE
    setting text;
BEGIN
    -- LIKE copies everything but these.
    FOR setting IN SELECT unnest(reloptions) FROM pg_class WHERE oid = 'pawl.message'::regclass LOOP
        EXECUTE format('ALTER TABLE bench.message SET (%s)', setting);
    END LOOP;
END
$$;
