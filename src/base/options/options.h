/* Configuration: one table of options; a flag beats the environment, which beats the file, which beats the
 * default. */
#ifndef BASE_OPTIONS_OPTIONS_H
#define BASE_OPTIONS_OPTIONS_H

#include "base/arena.h"
#include "base/buf.h"
#include "pawl.h"

enum option_type {
    OPTION_STRING,
    OPTION_INT,
    OPTION_DURATION, /* 500ms, 30s, 5m, 2h, 7d */
    OPTION_BOOL,
    OPTION_SIZE,  /* 262144, 256KiB, 16MiB, 1GiB */
    OPTION_CHOICE /* one word of row.choices */
};

enum option_source { OPTION_FROM_DEFAULT, OPTION_FROM_FILE, OPTION_FROM_ENVIRONMENT, OPTION_FROM_FLAG };

/* Every option of pawl; the value indexes option_rows. */
enum option_id {
    OPTION_CONFIG,
    OPTION_DATABASE_URL,
    OPTION_SCHEMA,
    OPTION_SERVICE,
    OPTION_WORKER_ID,
    OPTION_METADATA,
    OPTION_OUTPUT,
    OPTION_LEASE,
    OPTION_JOB_LEASE,
    OPTION_HEARTBEAT,
    OPTION_INSTANCE_LEASE,
    OPTION_STALE,
    OPTION_POLL,
    OPTION_IDLE_POLLS,
    OPTION_BATCH,
    OPTION_PERSPECTIVE_BATCH,
    OPTION_CONCURRENCY,
    OPTION_WEIGHTS,
    OPTION_MAX_PARTITIONS,
    OPTION_PARTITIONS,
    OPTION_LANES,
    OPTION_MAX_ATTEMPTS,
    OPTION_RETRY_BASE,
    OPTION_RETRY_MAX,
    OPTION_RETRY_JITTER,
    OPTION_PROCESSING_TIMEOUT,
    OPTION_CLEANUP_INTERVAL,
    OPTION_DEDUPE_WINDOW,
    OPTION_HISTORY,
    OPTION_STATEMENT_TIMEOUT,
    OPTION_CONNECT_TIMEOUT,
    OPTION_PAYLOAD_LIMIT,
    OPTION_DURABILITY,
    OPTION_DEBUG,
    OPTION_LOG_LEVEL,
    OPTION_TOOLS,
    OPTION_TOOLS_TIMEOUT,
    OPTION_PIPELINE_ENV,
    OPTION_ALERT_INTERVAL,
    OPTION_ALERT_TARGETS,
    OPTION_SERVE,
    OPTION_LISTEN,
    OPTION_TOKEN_FILE,
    OPTION_TLS_CERT,
    OPTION_TLS_KEY,
    OPTION_PUBLIC_URL,
    OPTION_REDACT,
    OPTION_LEASE_API,
    OPTION_HELP,
    OPTION_VERSION,
    OPTION_COUNT
};

/* One row of the table: parser, help, man page and sample file are all made from it. */
struct option_row {
    const char *name;        /* the key in the configuration file; the flag is the same with - for _ */
    char letter;             /* the o of -o; 0: none */
    const char *environment; /* NULL: not from the environment */
    const char *alias;       /* another variable for the same thing; a plain number there means seconds */
    enum option_type type;
    const char *fallback; /* text of the default; NULL: absent */
    const char *choices;  /* OPTION_CHOICE: "auto|table|json" */
    int64_t min;          /* range of numbers, sizes (bytes) and durations (ms) */
    int64_t max;
    bool flag_only; /* not allowed in a file */
    const char *help;
};

extern const struct option_row option_rows[OPTION_COUNT];

struct option_value {
    enum option_source source;
    bool set;       /* false: no default either */
    pawl_str text;  /* as it was written */
    int64_t number; /* int, duration in ms, size in bytes, bool 0 or 1, index of the choice */
};

/* The input to parse. A command may add its own rows, which are flags only, unless they name a variable. */
struct options_input {
    int argc;
    char **argv; /* argv[0] is left out */
    const struct option_row *extra;
    size_t extra_count;
    const char *(*getenv)(void *self, const char *name); /* NULL: the process's environment */
    void *self;
};

/* The parsed configuration; texts live in the arena, or in argv. */
struct options {
    struct option_value values[OPTION_COUNT];
    struct option_value *extra; /* as many as options_input.extra_count */
    const char **positional;
    size_t positional_count;
};

/*
 * Reads flags (--x=v, --x v, -o v, -ov; -- ends them), the environment, and the INI file named by --config or
 * PAWL_CONFIG (keys are at the top or in [pawl]). PAWL_INVALID with a sentence that says what, why and
 * what to do; PAWL_NOT_FOUND when the file is not there.
 */
PAWL_MUSTCHECK pawl_status options_parse(struct arena *arena, const struct options_input *input,
                                         struct options *options, pawl_error *err);

pawl_str options_text(const struct options *options, enum option_id id);
int64_t options_number(const struct options *options, enum option_id id);
bool options_bool(const struct options *options, enum option_id id);

/* The name closest to what was typed, or NULL if none is close. Also used for commands. */
const char *options_suggest(const char *typed, const char *const *names, size_t count);

/*
 * Whether an environment variable begins with PAWL_ or WORKER_ but is neither a setting, nor set by pawl for
 * its handlers, nor set by a cluster for a service. *meant is then the setting it resembles, or NULL.
 */
bool options_variable_unknown(const char *name, const char **meant);

/* Appends one paragraph per row: flag, text, environment, default, range. */
void options_help(struct buf *buf, const struct option_row *rows, size_t count);

/* The flag of a row, "--dedupe-window". Returns text. */
enum { OPTION_FLAG_BYTES = 64 };
char *options_flag(const struct option_row *row, char text[static OPTION_FLAG_BYTES]);

/* Where a value came from, for the error message. */
struct option_place {
    enum option_source source;
    const char *label; /* --lease, PAWL_LEASE, "lease in pawl.conf" */
    bool seconds;      /* a plain number is a number of seconds */
};

/* Text to value, with its range checked. text must outlive the value. */
PAWL_MUSTCHECK pawl_status option_value_parse(const struct option_row *row, pawl_str text,
                                              const struct option_place *place, struct option_value *value,
                                              pawl_error *err);

#endif
