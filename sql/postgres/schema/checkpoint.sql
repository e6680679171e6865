-- checkpoint: how far a perspective has applied each stream.

-- due_ms: when it may be claimed; NULL: never. request: of the batch that granted it last. failed_version: the event that failed; 0: not known.
-- status: 0 pending, 1 processing, 2 completed, 3 failed. Every move leaves a dead row, and a dead entry at the front of the
-- list of what is due, which is read past: they go before they are a twentieth of the table.
CREATE TABLE pawl_internal.checkpoint (
    stream text COLLATE "C" NOT NULL,
    perspective text COLLATE "C" NOT NULL,
    version bigint NOT NULL DEFAULT 0,
    token bigint NOT NULL DEFAULT 0,
    status smallint NOT NULL DEFAULT 0,
    error text COLLATE "C",
    attempts integer NOT NULL DEFAULT 0,
    updated_ms bigint NOT NULL,
    instance uuid,
    lease_until_ms bigint NOT NULL DEFAULT 0,
    due_ms bigint,
    stopped boolean NOT NULL DEFAULT false,
    replay_to bigint NOT NULL DEFAULT 0,
    failed_version bigint NOT NULL DEFAULT 0,
    fingerprint text COLLATE "C",
    created_ms bigint NOT NULL DEFAULT 0,
    request uuid,
    PRIMARY KEY (stream, perspective),
    CONSTRAINT checkpoint_status_known CHECK (status BETWEEN :CHECKPOINT_PENDING AND :CHECKPOINT_FAILED),
    CONSTRAINT checkpoint_stopped_has_failed CHECK (NOT stopped OR (status = :CHECKPOINT_FAILED AND due_ms IS NULL)),
    CONSTRAINT checkpoint_only_processing_has_a_lease CHECK (status = :CHECKPOINT_PROCESSING OR (instance IS NULL AND lease_until_ms = 0))
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX checkpoint_due ON pawl_internal.checkpoint (perspective, due_ms, stream) WHERE due_ms IS NOT NULL;
CREATE INDEX checkpoint_failed ON pawl_internal.checkpoint (perspective, stream) WHERE status = :CHECKPOINT_FAILED;
CREATE INDEX checkpoint_instance ON pawl_internal.checkpoint (instance) WHERE instance IS NOT NULL;
