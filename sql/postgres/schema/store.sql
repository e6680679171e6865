-- store: the settings of the store.

CREATE TABLE pawl_internal.settings (
    one boolean PRIMARY KEY DEFAULT true,
    partition_count integer NOT NULL,
    lane_count integer NOT NULL,
    epoch bigint NOT NULL DEFAULT 1,
    instance_lease_ms bigint NOT NULL DEFAULT 15000,
    stale_ms bigint NOT NULL DEFAULT 600000,
    max_attempts integer NOT NULL DEFAULT 5,
    dedupe_ms bigint NOT NULL DEFAULT 604800000,
    history_ms bigint NOT NULL DEFAULT 0,
    dead_policy smallint NOT NULL DEFAULT 2,
    test_now_ms bigint NOT NULL DEFAULT 0,
    segment_bytes bigint NOT NULL DEFAULT 33554432, -- a segment of messages that is larger or older than this
    segment_ms bigint NOT NULL DEFAULT 3600000, -- is followed by the next one
    system_identifier bigint,
    timeline text COLLATE "C",
    epoch_ms bigint NOT NULL DEFAULT 0, -- when the epoch was raised last, and why
    epoch_cause smallint NOT NULL DEFAULT 0,
    CONSTRAINT settings_is_one_row CHECK (one),
    CONSTRAINT settings_partition_count_1_to_100000 CHECK (partition_count BETWEEN 1 AND 100000),
    CONSTRAINT settings_lane_count_1_to_4096 CHECK (lane_count BETWEEN 1 AND 4096),
    CONSTRAINT settings_lanes_not_above_partitions CHECK (lane_count <= partition_count),
    CONSTRAINT settings_dead_policy_known CHECK (dead_policy BETWEEN :POLICY_BLOCK AND :POLICY_PARK),
    CONSTRAINT settings_max_attempts_1_to_1000 CHECK (max_attempts BETWEEN 1 AND 1000)
);
