-- series: what happened over the last 30 days, in steps that grow with its age.

-- What there is a series of (src/domain/series.h has the scopes); the empty name: what has no series of its own. ready and dead
-- are what was seen last.
CREATE TABLE pawl_series (
    id INTEGER PRIMARY KEY,
    scope INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    name TEXT NOT NULL,
    ready INTEGER NOT NULL DEFAULT 0,
    dead INTEGER NOT NULL DEFAULT 0,
    UNIQUE (scope, kind, name)
) STRICT;

-- The sums of a step, and the highest that was seen in it; NULL: nobody looked.
CREATE TABLE pawl_series_point (
    step_ms INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    series INTEGER NOT NULL,
    ready INTEGER,
    dead INTEGER,
    oldest_age_ms INTEGER,
    {{columns point}},
    PRIMARY KEY (step_ms, at_ms, series)
) STRICT, WITHOUT ROWID;
