-- floor_append_table: a copy of pawl.event with its indexes and constraints, without anything around it.
DROP SCHEMA IF EXISTS bench CASCADE;
CREATE SCHEMA bench;
CREATE TABLE bench.event (LIKE pawl.event INCLUDING ALL);
