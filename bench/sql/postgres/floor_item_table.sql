-- floor_item_table: a copy of pawl.run_item, with its indexes but without anything around it.
DROP SCHEMA IF EXISTS bench CASCADE;
CREATE SCHEMA bench;
CREATE TABLE bench.item (LIKE pawl.run_item INCLUDING ALL);
