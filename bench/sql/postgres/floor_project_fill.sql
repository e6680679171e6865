-- floor_project_fill: as many events as were asked for, with positions; the cursor at the start.
CREATE TABLE bench.event (LIKE pawl.event INCLUDING ALL);
ALTER TABLE bench.event ADD COLUMN position bigint GENERATED ALWAYS AS IDENTITY UNIQUE;
CREATE TABLE bench.cursor (position bigint NOT NULL);
INSERT INTO bench.cursor VALUES (0);
