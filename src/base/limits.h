/* Every limit and default has a name, and its name is here. */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

/* What a producer may send. */
#define PAWL_PAYLOAD_BYTES_DEFAULT 262144
#define PAWL_PAYLOAD_BYTES_MAX 16777216
#define PAWL_METADATA_BYTES_MAX 65536
#define PAWL_TRACESTATE_BYTES_MAX 512 /* the length that W3C requires implementations to propagate */
#define PAWL_STREAM_BYTES_MAX 200
#define PAWL_TYPE_BYTES_MAX 200
#define PAWL_TOPIC_BYTES_MAX 200
#define PAWL_PATTERN_BYTES_MAX 256
#define PAWL_NAME_BYTES_MAX 128       /* service, host, handler, perspective, consumer */
#define PAWL_SCHEMA_NAME_BYTES_MAX 31 /* leaves room for suffixes inside PostgreSQL's 63-byte identifiers */
#define PAWL_ERROR_BYTES_MAX 4096     /* stored text of a failure */
#define PAWL_JSON_DEPTH_MAX 64
#define PAWL_JSON_NUMBER_BYTES_MAX 400 /* with the exponent's limit: inside what numeric can hold */
#define PAWL_JSON_EXPONENT_MAX 9999

/* How much one call may carry. */
#define PAWL_BATCH_DEFAULT 500
#define PAWL_BATCH_MAX 5000
#define PAWL_SWEEP_MAX 5000   /* messages one claim reads while skipping paused ones; sql/ repeats it */
#define PAWL_HELD_MAX 1000000 /* grants that an instance can list as held */
#define PAWL_LIST_DEFAULT 100
#define PAWL_LIST_MAX 5000
#define PAWL_WAIT_RESULT_MS_DEFAULT 60000 /* for a job or a run to end */
#define PAWL_WAIT_RESULT_MS_MAX 600000
#define PAWL_WAKE_MAX 1000      /* messages of appends that one batch handles when it grants checkpoints */
#define PAWL_STAMP_MAX 10000    /* appends that get positions in one pass */
#define PAWL_WHY_AHEAD 10000    /* messages of a lane that `why` searches for the stream; sql/ repeats it */
#define PAWL_BACKLOG_LOOK 10000 /* jobs that are counted by priority */
#define PAWL_LIST_SCAN 10000    /* rows that a page of a list examines before it ends short */

/* Events and perspectives. */
#define PAWL_APPEND_MAX 1000 /* events in one call */
#define PAWL_PATTERNS_MAX 64 /* of one perspective */
#define PAWL_PERSPECTIVES_MAX 1000
#define PAWL_LAG_LOOK 2000 /* events searched to find the lag of a perspective; sql/ repeats it */
#define PAWL_PERSPECTIVE_VERSION_MAX 1000000
#define PAWL_PERSPECTIVE_BATCH_DEFAULT 100
#define PAWL_PERSPECTIVE_SQL_BYTES_MAX 65536
#define PAWL_REGISTER_WAIT_MS 5000 /* wait for open appends */
#define PAWL_SWITCH_WAIT_MS_MAX 30000
#define PAWL_SNAPSHOTS_KEPT 2
#define PAWL_RECEPTORS_MAX 31                  /* of one worker */
#define PAWL_RECEPTOR_NAME_BYTES_MAX 100       /* on events; sql/postgres repeats this and the next */
#define PAWL_RECEPTOR_METADATA_BYTES_MAX 60000 /* of an event, in the headers of its messages */
#define PAWL_RECEPTOR_FEED 200                 /* events that a receptor examines in one transaction */

/* Sharding; fixed when a schema is created. */
#define PAWL_PARTITIONS_DEFAULT 10000
#define PAWL_PARTITIONS_MAX 100000
#define PAWL_LANES_DEFAULT 64
#define PAWL_LANES_MAX 4096

/* Leases and liveness. */
#define PAWL_LEASE_MS_DEFAULT 300000 /* message and checkpoint */
#define PAWL_LEASE_MS_MIN 100
#define PAWL_LEASE_MS_MAX 86400000
#define PAWL_JOB_LEASE_MS_DEFAULT 60000
#define PAWL_INSTANCE_LEASE_MS_DEFAULT 15000
#define PAWL_HEARTBEAT_MS_DEFAULT 5000
#define PAWL_HEARTBEAT_MS_MIN 50
#define PAWL_STALE_MS_DEFAULT 600000
#define PAWL_STALE_MS_MAX 2592000000 /* 30 days */
#define PAWL_POLL_MS_DEFAULT 1000
#define PAWL_POLL_MS_MIN 10
#define PAWL_CONCURRENCY_DEFAULT 8
#define PAWL_HANDLER_TIMEOUT_MS_DEFAULT 3600000
#define PAWL_WAIT_MS 300000 /* how long a request to be woken is valid */

/* Attempts and retries. */
#define PAWL_ATTEMPTS_DEFAULT 5
#define PAWL_ATTEMPTS_MAX 1000
#define PAWL_SUSPECT_LOSSES 2      /* lost this often, a message runs alone; sql/ repeats this and the next */
#define PAWL_LOST_TOGETHER_MAX 100 /* lost messages that one instance may hold */
#define PAWL_SLOTS_MAX 100000
#define PAWL_RETRY_BASE_MS_DEFAULT 1000
#define PAWL_RETRY_MAX_MS_DEFAULT 60000
#define PAWL_RETRY_MS_MAX 604800000 /* no retry waits longer than 7 days */
#define PAWL_UNTIL_RESUMED_MS                                                                                \
    253402300799000LL /* the end of the year 9999: when paused work is due; sql/ repeats it */

/* Pooled work (docs/jobs.md); sql/postgres repeats these numbers. */
#define PAWL_JOB_ATTEMPTS_DEFAULT 25
#define PAWL_JOB_PRIORITY_MAX 1000
#define PAWL_JOB_AGING_MS 60000 /* waiting time that one step of priority is worth */
#define PAWL_JOB_SWEEP_MS 1000  /* how often overdue leases are looked for */
#define PAWL_JOB_SWEEP_CLAIMS 100
#define PAWL_JOB_PROMOTE_MAX 1000         /* jobs that become due in one claim */
#define PAWL_JOB_DELAY_MS_MAX 31536000000 /* 365 days */
#define PAWL_JOB_WEIGHT_MAX 1000
#define PAWL_JOB_RATE_MAX 1000000
#define PAWL_JOB_STEPS_MAX 1000 /* in one call */
#define PAWL_INSTANTS_MAX 1000  /* in one fire */
#define PAWL_CLEANUP_MS_DEFAULT 300000
#define PAWL_RUN_RETENTION_MS_DEFAULT 2592000000 /* 30 days */

/* Runs (docs/runs.md); sql/postgres repeats these numbers. */
#define PAWL_PAGE_SIZE_DEFAULT 30
#define PAWL_PAGE_SIZE_MAX 5000
#define PAWL_PAGE_DEADLINE_MS_DEFAULT 60000
#define PAWL_PAGE_ATTEMPTS_DEFAULT 5
#define PAWL_PAGES_MAX 1000000 /* of one generation of a partition: more is an endless loop */
#define PAWL_PARTITIONS_PER_RUN_MAX 10000
#define PAWL_PARTITION_NAME_BYTES_MAX 64
#define PAWL_ITEM_KEY_BYTES_MAX 200
#define PAWL_CURSOR_BYTES_MAX 4096
#define PAWL_TARGET_SQL_BYTES_MAX 65536
#define PAWL_PACE_RATE 1000           /* pages per second of a run that is held without having a rate */
#define PAWL_QUIET_MS_DEFAULT 600000  /* a partition without an update for this long is stuck */
#define PAWL_SIGNAL_KEEP_MS 604800000 /* how long the end of a run is kept for later waiters */

/* Alerts (docs/alerts.md); sql/postgres repeats the kept time. */
#define PAWL_ALERT_RULES_MAX 200
#define PAWL_ALERT_NAME_BYTES_MAX 64
#define PAWL_ALERT_TARGETS_MAX 8 /* of one rule */
#define PAWL_ALERT_SUMMARY_BYTES_MAX 500
#define PAWL_ALERT_INTERVAL_MS_DEFAULT 60000 /* how often the rules are evaluated, by any process */
#define PAWL_ALERT_INTERVAL_MS_MIN 100
#define PAWL_ALERT_INTERVAL_MS_MAX 3600000
#define PAWL_ALERT_HOLD_MS_MAX 86400000       /* for and clear */
#define PAWL_ALERT_SILENCE_MS_MAX 31536000000 /* 365 days */
#define PAWL_ALERT_WINDOW_MS 300000           /* that rates are taken over */
#define PAWL_ALERT_RATE_ENDS_MIN 10           /* a rate based on fewer results is meaningless */
#define PAWL_ALERT_LEASE_MS 60000             /* of one delivery */
#define PAWL_ALERT_GIVE_UP_MS 86400000        /* a delivery that keeps failing for this long is given up */
#define PAWL_ALERT_RETRY_MAX_MS 600000
#define PAWL_SERIES_POINTS_MAX 1000   /* of each series in one answer */
#define PAWL_ALERT_KEEP_MS 2592000000 /* 30 days of history */

/* What is kept. */
#define PAWL_DEDUPE_MS_DEFAULT 604800000  /* 7 days */
#define PAWL_DEDUPE_MS_MAX 31536000000    /* 365 days */
#define PAWL_HISTORY_MS_DEFAULT 604800000 /* 7 days */
#define PAWL_HISTORY_MS_MAX 315360000000  /* 10 years */

/* Schedules. */
#define PAWL_CRON_BYTES_MAX 256
#define PAWL_ZONE_NAME_BYTES_MAX 64
#define PAWL_ZONE_FILE_BYTES_MAX 65536
#define PAWL_ZONE_LIST_MAX 4096
#define PAWL_SCHEDULE_INTERVAL_MS_MIN 1000
#define PAWL_SCHEDULE_INTERVAL_MS_MAX 315360000000 /* 10 years */
#define PAWL_SCHEDULE_JITTER_MS_MAX 86400000
#define PAWL_SCHEDULE_MISSED_DEFAULT 100
#define PAWL_SCHEDULE_MISSED_MAX 1000
#define PAWL_SCHEDULE_LATE_MS_DEFAULT 60000
#define PAWL_SCHEDULE_LATE_MS_MAX 86400000
#define PAWL_SCHEDULE_COUNT_MAX 10000 /* the most dropped ticks that are counted */

/* Documents: trees, schemas, pipelines. */
#define PAWL_TREE_NODES_MAX 200000
#define PAWL_SCHEMA_NODES_MAX 20000
#define PAWL_SCHEMA_STEPS_MAX 10000000 /* comparisons of one validation */
#define PAWL_SCHEMA_CALLS_MAX 1000     /* schemas inside schemas at one moment of a validation */
#define PAWL_REGEX_BYTES_MAX 1024
#define PAWL_REGEX_MATCH_MAX 100000 /* PCRE2's match limit */
#define PAWL_REGEX_HEAP_KIB_MAX 4096
#define PAWL_PIPELINE_BYTES_MAX 1048576
#define PAWL_PIPELINE_STEPS_MAX 256
#define PAWL_PIPELINE_FOREACH_MAX 10000
#define PAWL_PIPELINE_TIMEOUT_MS_DEFAULT 30000
#define PAWL_PIPELINE_TIMEOUT_MS_MAX 86400000
#define PAWL_PIPELINE_ATTEMPTS_MAX 25
#define PAWL_TEMPLATE_BYTES_MAX 1048576 /* size of a filled document */
#define PAWL_TEMPLATE_SEGMENTS_MAX 32
#define PAWL_CONDITION_BYTES_MAX 1024
#define PAWL_CONDITION_DEPTH_MAX 32

/* Waiting for a database. */
#define PAWL_STATEMENT_TIMEOUT_MS_DEFAULT 30000
#define PAWL_CONNECT_TIMEOUT_MS_DEFAULT 10000
#define PAWL_LOCK_TIMEOUT_MS_DEFAULT 5000
#define PAWL_TIMEOUT_MS_MAX 3600000

/* The HTTP server. */
#define PAWL_HTTP_CONNECTIONS_MAX 256
#define PAWL_HTTP_CONNECTION_BYTES 32768 /* request line and headers together */
#define PAWL_HTTP_BODY_BYTES_MAX 1048576
#define PAWL_HTTP_ANSWER_BYTES_MAX 16777216
#define PAWL_HTTP_ARENA_BYTES_MAX 33554432
#define PAWL_HTTP_LIST_MAX 500        /* rows of one page */
#define PAWL_HTTP_HEADER_MS 10000     /* until the headers have come */
#define PAWL_HTTP_BODY_MS 30000       /* until the body has come */
#define PAWL_HTTP_ANSWER_MS 60000     /* until the answer has been taken */
#define PAWL_HTTP_IDLE_MS 30000       /* for an idle connection */
#define PAWL_HTTP_STOP_MS 3000        /* for responses in progress when the server stops */
#define PAWL_HTTP_SESSION_MS 43200000 /* 12 hours */
#define PAWL_HTTP_SESSIONS_MAX 1000
#define PAWL_HTTP_STORE_THREADS 2
#define PAWL_HTTP_LEASE_THREADS 2
#define PAWL_HTTP_CLAIM_WAIT_MS_MAX 30000
#define PAWL_HTTP_CLAIMS_WAITING_MAX 192   /* of the connections */
#define PAWL_HTTP_LEASES_WATCHED_MAX 16384 /* claimed items whose duration is measured */
#define PAWL_HTTP_STREAMS_MAX 64
#define PAWL_HTTP_STREAM_BYTES_MAX 262144 /* that wait for one listener */
#define PAWL_HTTP_STREAM_BLOCK_BYTES 8192
#define PAWL_HTTP_STREAM_PING_MS 15000
#define PAWL_HTTP_KEYS_MAX 1000 /* remembered Idempotency-Keys */
#define PAWL_HTTP_KEYS_BYTES_MAX 4194304
#define PAWL_HTTP_KEY_BYTES_MAX 200
#define PAWL_HTTP_KEY_MS 86400000
#define PAWL_HTTP_OPERATIONS_MAX 20   /* that wait or run */
#define PAWL_HTTP_OPERATIONS_KEPT 100 /* remembered */
#define PAWL_HTTP_AUDIT_BYTES_MAX 2000
#define PAWL_TOOLS_TIMEOUT_MS_MAX 600000 /* for asking servers of tools */
#define PAWL_HTTP_DOCTOR_MS 60000        /* how old a report of the doctor may be */

/* Memory of one scratch area, buffer or log line. */
#define PAWL_ARENA_CHUNK_BYTES 16384
#define PAWL_ARENA_BYTES_MAX 268435456
/* Payloads and headers sent to a broker before their confirmation is awaited; one message may be larger. What
 * is sent must be confirmed within the transport's confirm time, also over a slow link. */
#define PAWL_PUBLISH_BYTES_MAX 8388608
#define PAWL_BUF_BYTES_MAX 268435456
#define PAWL_LOG_LINE_BYTES_MAX 8192

/* Configuration. */
#define PAWL_OPTION_TEXT_BYTES_MAX 4096
#define PAWL_CONFIG_FILE_BYTES_MAX 1048576
#define PAWL_ARGUMENTS_MAX 4096

#endif
