-- task: tasks, schedules, agents and refusals.

CREATE TABLE pawl_internal.agent (
    name text COLLATE "C" PRIMARY KEY,
    scopes text[] COLLATE "C" NOT NULL,
    disabled boolean NOT NULL,
    updated_ms bigint NOT NULL
);

CREATE TABLE pawl_internal.task (
    name text COLLATE "C" PRIMARY KEY,
    agent text COLLATE "C",
    type text COLLATE "C" NOT NULL,
    spec json,
    params json,
    scopes text[] COLLATE "C" NOT NULL,
    queue text COLLATE "C",
    key text COLLATE "C",
    priority integer NOT NULL,
    max_attempts integer NOT NULL,
    flags integer NOT NULL,
    timeout_ms bigint NOT NULL,
    retention_ms bigint NOT NULL,
    version bigint NOT NULL,
    updated_ms bigint NOT NULL
);

CREATE TABLE pawl_internal.schedule (
    name text COLLATE "C" PRIMARY KEY,
    task text COLLATE "C" NOT NULL REFERENCES pawl_internal.task (name),
    kind smallint NOT NULL,
    expr text COLLATE "C" NOT NULL,
    zone text COLLATE "C",
    params json,
    missed smallint NOT NULL,
    missed_max integer NOT NULL,
    overlap smallint NOT NULL,
    jitter_ms bigint NOT NULL,
    start_ms bigint NOT NULL,
    end_ms bigint NOT NULL,
    paused boolean NOT NULL,
    next_ms bigint NOT NULL,
    last_ms bigint NOT NULL,
    version bigint NOT NULL,
    updated_ms bigint NOT NULL
);
CREATE INDEX schedule_next ON pawl_internal.schedule (next_ms, name) WHERE NOT paused AND next_ms > 0;
CREATE INDEX schedule_task ON pawl_internal.schedule (task);

CREATE TABLE pawl_internal.schedule_fire (
    schedule text COLLATE "C" NOT NULL,
    instant_ms bigint NOT NULL,
    job bigint,
    fired_ms bigint NOT NULL,
    PRIMARY KEY (schedule, instant_ms)
);
CREATE INDEX schedule_fire_fired ON pawl_internal.schedule_fire USING brin (fired_ms);

CREATE TABLE pawl_internal.refusal (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    agent text COLLATE "C",
    task text COLLATE "C",
    missing text COLLATE "C" NOT NULL,
    job bigint,
    made_ms bigint NOT NULL
);
