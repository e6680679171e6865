/* Flags that belong to single commands; the options of base/options.h belong to all of them. */
#ifndef OPERATIONS_FRONT_FLAGS_H
#define OPERATIONS_FRONT_FLAGS_H

#include "base/arena.h"
#include "pawl.h"

enum flag_type { FLAG_TEXT, FLAG_INT, FLAG_DURATION, FLAG_UUID, FLAG_CHOICE, FLAG_SWITCH };

/* A flag means the same in every command that takes it; the value indexes flag_rows. */
enum flag_id {
    FLAG_KIND,
    FLAG_STATE,
    FLAG_STREAM,
    FLAG_TYPE,
    FLAG_TOPIC,
    FLAG_FINGERPRINT,
    FLAG_LIMIT,
    FLAG_AFTER,
    FLAG_ID,
    FLAG_HEADER,
    FLAG_CONSUMER,
    FLAG_COUNT,
    FLAG_REQUEST,
    FLAG_NDJSON,
    FLAG_CORRELATION,
    FLAG_CAUSATION,
    FLAG_TRACEPARENT,
    FLAG_ALL,
    FLAG_YES,
    FLAG_DRY_RUN,
    FLAG_BEFORE,
    FLAG_TO,
    FLAG_ON,
    FLAG_HANDLERS,
    FLAG_TRANSPORTS,
    FLAG_KINDS,
    FLAG_DRAIN,
    FLAG_INSTANT,
    FLAG_WAIT,
    FLAG_UNTIL_IDLE,
    FLAG_RATES,
    FLAG_TIMEOUT,
    FLAG_QUEUE,
    FLAG_JOB_STATE,
    FLAG_TASK,
    FLAG_KEY,
    FLAG_UNIQUE,
    FLAG_PRIORITY,
    FLAG_PIPELINE,
    FLAG_PARAMS,
    FLAG_AGENT,
    FLAG_CRON,
    FLAG_EVERY,
    FLAG_AT,
    FLAG_ZONE,
    FLAG_MISSED,
    FLAG_OVERLAP,
    FLAG_JITTER,
    FLAG_START,
    FLAG_END,
    FLAG_REASON,
    FLAG_RATE,
    FLAG_PERSPECTIVES_OUTSIDE,
    FLAG_EXPECT,
    FLAG_PUBLISH,
    FLAG_FROM,
    FLAG_BACKWARD,
    FLAG_AS_OF,
    FLAG_AT_VERSION,
    FLAG_POSITION,
    FLAG_DIGEST_OLD,
    FLAG_DIGEST_NEW,
    FLAG_RUN_KEY,
    FLAG_RUN_STATE,
    FLAG_PART_STATE,
    FLAG_OPEN,
    FLAG_STUCK,
    FLAG_WATCH,
    FLAG_OFFSET,
    FLAG_CURSOR,
    FLAG_FIRING,
    FLAG_METRIC,
    FLAG_ABOVE,
    FLAG_BELOW,
    FLAG_CLEAR_AT,
    FLAG_FOR,
    FLAG_CLEAR,
    FLAG_SEVERITY,
    FLAG_TARGETS,
    FLAG_SUMMARY,
    FLAG_MINUTES,
    FLAG_STALE_MINUTES,
    FLAG_MAX_LEASES,
    FLAG_INTERVAL,
    FLAG_LOOKS,
    FLAG_FROM_START,
    FLAG_REPLACE,
    FLAG_AT_ONCE,
    FLAG_STARTS,
    FLAG_PER,
    FLAG_WEIGHT,
    FLAG_HEAD,
    FLAG_TOTAL
};

/* A set of flags: more than 64 of them. */
__extension__ typedef unsigned __int128 flag_bits;
#define FLAG_BIT(id) ((flag_bits)1 << (id))
#define FLAG(name) FLAG_BIT(FLAG_##name) /* in the tables of commands */

/* One row of the table: parser and help are made from it. */
struct flag_row {
    const char *name; /* without the leading -- */
    enum flag_type type;
    const char *value;   /* what the help calls the value; NULL for a switch */
    const char *choices; /* FLAG_CHOICE: "outbox|inbox" */
    int64_t min, max;    /* FLAG_INT, and FLAG_DURATION in ms */
    bool repeat;         /* may be given more than once */
    const char *help;
    const char *input; /* of operations; NULL: the same name */
};

extern const struct flag_row flag_rows[FLAG_TOTAL];

struct flag_value {
    bool set;
    pawl_str text;  /* as it was typed */
    int64_t number; /* int, ms, index of the choice */
    pawl_uuid uuid;
};

/* The row with that name (len bytes), or FLAG_TOTAL. */
enum flag_id flag_find(const char *name, size_t len);

/* Reads text as the row's type. PAWL_INVALID with what is wrong and what would be right. */
PAWL_MUSTCHECK pawl_status flag_parse(enum flag_id id, const char *text, struct flag_value *value,
                                      pawl_error *err);

#endif
