-- series: what happened over the last 30 days, in steps that grow with its age.

-- What there is a series of (src/domain/series.h has the scopes); the empty name: what has no series of its own. ready and dead
-- are what was seen last.
CREATE TABLE pawl_internal.series (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    scope smallint NOT NULL,
    kind smallint NOT NULL,
    name text COLLATE "C" NOT NULL,
    ready bigint NOT NULL DEFAULT 0,
    dead bigint NOT NULL DEFAULT 0,
    UNIQUE (scope, kind, name)
);

-- The sums of a step, absent instead of 0, and the highest that was seen in it; absent: nobody looked. A chart reads a few of
-- the series over a long time, so each lies together in the key.
CREATE TABLE pawl_internal.series_point (
    step_ms integer NOT NULL,
    at_ms bigint NOT NULL,
    series integer NOT NULL,
    ready bigint,
    dead bigint,
    oldest_age_ms bigint,
    {{columns point}},
    PRIMARY KEY (step_ms, series, at_ms)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
