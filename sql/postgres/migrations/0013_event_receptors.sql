-- event_receptors: receptors on events; what they mean is in docs/events.md. Their patterns are rows of pattern with
-- the key 'event:' and the name.
CREATE TABLE pawl.event_receptor (
    name text COLLATE "C" PRIMARY KEY,
    position bigint NOT NULL,
    fed bigint NOT NULL DEFAULT 0,
    registered_ms bigint NOT NULL,
    CONSTRAINT event_receptor_position_not_negative CHECK (position >= 0)
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
