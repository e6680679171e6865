-- notify_table: where the rows of a durable round trip go.
DROP SCHEMA IF EXISTS bench CASCADE;
CREATE SCHEMA bench;
CREATE TABLE bench.trip (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, channel text NOT NULL);
