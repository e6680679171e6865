-- floor_table: a copy of pawl.message, with its indexes, defaults and storage settings but without anything around it.
DROP SCHEMA IF EXISTS bench CASCADE;
CREATE SCHEMA bench;
CREATE TABLE bench.message (LIKE pawl.message INCLUDING ALL);
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
