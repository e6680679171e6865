-- instance: instances, tombstones, duties, and requests to be woken.

CREATE SEQUENCE pawl_internal.lock_seq AS integer CACHE 1 CYCLE;

-- Heartbeats are HOT: no index on a time, room on the page.
CREATE TABLE pawl_internal.instance (
    id uuid PRIMARY KEY,
    service text COLLATE "C" NOT NULL,
    host text COLLATE "C",
    pid integer NOT NULL,
    metadata json,
    kinds integer NOT NULL,
    state smallint NOT NULL DEFAULT 1,
    lock_no integer NOT NULL DEFAULT 0,
    max_partitions integer NOT NULL DEFAULT 0,
    slots integer NOT NULL DEFAULT 0, -- messages that it works on at once; 0: it does not say
    lease_ms bigint NOT NULL,
    started_ms bigint NOT NULL,
    beat_ms bigint NOT NULL,
    lease_until_ms bigint NOT NULL,
    absent_since_ms bigint NOT NULL DEFAULT 0,
    evicted_ms bigint NOT NULL DEFAULT 0,
    leftovers boolean NOT NULL DEFAULT false, -- evicted, but a transaction held something of it, which is taken later
    processed bigint NOT NULL DEFAULT 0, -- how much it has done, as it says with its heartbeat
    is_full boolean NOT NULL DEFAULT false, -- all its slots are busy, as it says
    horizon xid8 NOT NULL DEFAULT '0', -- transactions that had ended when it last beat; more than now: the database was restored
    CONSTRAINT instance_state_known CHECK (state IN (:INSTANCE_ACTIVE, :INSTANCE_EVICTED))
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);

CREATE TABLE pawl_internal.tombstone (
    id uuid PRIMARY KEY,
    removed_ms bigint NOT NULL
);

-- Workers that want to be woken when work arrives.
-- Not logged: after a crash no worker waits any more, and each asks again.
CREATE UNLOGGED TABLE pawl_internal.waiter (
    instance uuid    PRIMARY KEY,
    kinds    integer NOT NULL, -- bits, as in instance
    until_ms bigint  NOT NULL  -- a request that is not renewed expires
);

-- Until when a worker wants to be woken: one number that a put can look at without opening a table.
CREATE SEQUENCE pawl_internal.wait_seq AS bigint CACHE 1;
SELECT pg_catalog.setval('pawl_internal.wait_seq', 1);

-- One row per duty; lease_until_ms in the past: free.
CREATE TABLE pawl_internal.duty (
    name text COLLATE "C" PRIMARY KEY,
    instance uuid,
    token bigint NOT NULL DEFAULT 0,
    lease_until_ms bigint NOT NULL DEFAULT 0
);
