-- receptor: receptors and their patterns of event types.

CREATE TABLE pawl_internal.receptor (
    event_id uuid NOT NULL,
    receptor text COLLATE "C" NOT NULL,
    status integer NOT NULL,
    error text COLLATE "C",
    attempts integer NOT NULL,
    updated_ms bigint NOT NULL,
    PRIMARY KEY (event_id, receptor)
);
CREATE INDEX receptor_updated ON pawl_internal.receptor (updated_ms);

CREATE TABLE pawl_internal.pattern (
    key text COLLATE "C" NOT NULL,
    n integer NOT NULL,
    mode smallint NOT NULL,
    text text COLLATE "C" NOT NULL,
    regex text COLLATE "C" NOT NULL,
    PRIMARY KEY (key, n),
    CONSTRAINT pattern_mode_known CHECK (mode BETWEEN :PATTERN_EXACT AND :PATTERN_REGEX)
);

-- Receptors on events. Their patterns are rows of pattern with the key 'event:' and the name.
CREATE TABLE pawl_internal.event_receptor (
    name text COLLATE "C" PRIMARY KEY,
    position bigint NOT NULL,
    fed bigint NOT NULL DEFAULT 0,
    registered_ms bigint NOT NULL,
    CONSTRAINT event_receptor_position_not_negative CHECK (position >= 0)
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
