-- project_table: the read model, the same for pawl and for the floor.
CREATE SCHEMA IF NOT EXISTS bench;
CREATE TABLE bench.total (stream text COLLATE "C" PRIMARY KEY, version bigint NOT NULL, quantity bigint NOT NULL);
