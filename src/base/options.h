/* Configuration: one table of options; a flag beats the environment, which beats the file, which beats the
 * default. */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include "base/arena.h"
#include "base/buf.h"
#include "pawl.h"

enum option_type { OPTION_STRING, OPTION_INT, OPTION_DURATION, OPTION_BOOL, OPTION_SIZE, OPTION_CHOICE };

enum option_source { OPTION_FROM_DEFAULT, OPTION_FROM_FILE, OPTION_FROM_ENVIRONMENT, OPTION_FROM_FLAG };

/* Every option of pawl; the value indexes option_rows. */
enum option_id {
    OPTION_CONFIG,
    OPTION_DATABASE_URL,
    OPTION_SCHEMA,
    OPTION_SERVICE,
    OPTION_OUTPUT,
    OPTION_LEASE,
    OPTION_JOB_LEASE,
    OPTION_HEARTBEAT,
    OPTION_INSTANCE_LEASE,
    OPTION_STALE,
    OPTION_POLL,
    OPTION_BATCH,
    OPTION_CONCURRENCY,
    OPTION_PARTITIONS,
    OPTION_LANES,
    OPTION_MAX_ATTEMPTS,
    OPTION_DEDUPE_WINDOW,
    OPTION_HISTORY,
    OPTION_STATEMENT_TIMEOUT,
    OPTION_CONNECT_TIMEOUT,
    OPTION_PAYLOAD_LIMIT,
    OPTION_DURABILITY,
    OPTION_LOG_LEVEL,
    OPTION_HELP,
    OPTION_VERSION,
    OPTION_COUNT
};

/* One row of the table: parser, help, man page and sample file are all made from it. */
struct option_row {
    const char *name;        /* also the key in the configuration file */
    const char *flag;        /* without the leading --; NULL: no flag */
    char letter;             /* -o; 0: none */
    const char *environment; /* NULL: not from the environment */
    const char *alias;       /* a source's name for the same thing, in seconds for durations; NULL: none */
    enum option_type type;
    const char *fallback; /* text of the default; NULL: absent */
    const char *choices;  /* for OPTION_CHOICE: "auto|table|json" */
    int64_t min;          /* range of numbers, sizes (bytes) and durations (ms) */
    int64_t max;
    bool secret; /* never shown */
    const char *help;
};

extern const struct option_row option_rows[OPTION_COUNT];

struct option_value {
    enum option_source source;
    pawl_str text;  /* absent: not set and no default */
    int64_t number; /* int, duration in ms, size in bytes, bool 0/1, index of the choice */
};

/* The parsed configuration; texts live in the arena given to options_parse. */
struct options {
    struct option_value values[OPTION_COUNT];
    int positional_count;
    const char **positional;
};

/* Where values come from besides argv. NULL members mean the process's own. */
struct options_source {
    const char *(*getenv)(void *self, const char *name);
    void *self;
};

/*
 * Reads argv[1..argc-1], the environment, and the file named by --config or PAWL_CONFIG. PAWL_INVALID with a
 * sentence that says what, why and what to do; PAWL_NOT_FOUND when the configuration file is not there.
 */
PAWL_MUSTCHECK pawl_status options_parse(struct arena *arena, int argc, char **argv,
                                         const struct options_source *source, struct options *options,
                                         pawl_error *err);

pawl_str options_text(const struct options *options, enum option_id id);
int64_t options_number(const struct options *options, enum option_id id);
bool options_bool(const struct options *options, enum option_id id);

/* The closest of names (count of them) to what somebody typed, or NULL when none is close. For commands as
 * well. */
const char *options_suggest(const char *typed, const char *const *names, size_t count);

/* Appends the options section of --help: one paragraph per option with flag, environment, default and range.
 */
void options_help(struct buf *buf);

#endif
