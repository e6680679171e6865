-- floor_project_checkpoints: a checkpoint for each stream, as the append makes them.
CREATE TABLE bench.checkpoint (LIKE pawl.checkpoint INCLUDING ALL);
INSERT INTO bench.checkpoint (stream, perspective, updated_ms) SELECT DISTINCT e.stream, 'total', 0 FROM bench.event e;
