/* One run of the program: the context that every command gets. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "cli/arguments.h"
#include "view/output/output.h"
#include "work/put_spans.h"

struct cli {
    struct arena *arena; /* lives as long as the run */
    struct arguments arguments;
    struct output output;
    struct store *store;   /* open when the command needs it, else NULL */
    struct tracer *tracer; /* NULL: nothing is traced, or not asked for yet: cli_putter */
    const char *hint; /* what to do about the error; static or in the arena; NULL: what the status suggests */
    bool usage;       /* the error is one of the command line */
    int exit_code;    /* of a run that returns PAWL_OK */
    pawl_str next;    /* of an operation's list: where the next page begins; absent: that was the last */
    bool list_said;   /* the command has said itself whether its list is whole */
    const char *below; /* what to say below the list; NULL: nothing */
};

static inline const struct flag_value *cli_flag(const struct cli *cli, enum flag_id id) {
    return &cli->arguments.flags[id];
}

/* The kind asked for by --kind, or fallback. */
static inline enum store_kind cli_kind(const struct cli *cli, int fallback) {
    const struct flag_value *flag = cli_flag(cli, FLAG_KIND);
    return (enum store_kind)(flag->set ? (int)flag->number + 1 : fallback);
}

/* Something about the answer that is not part of it: below a table, on standard error beside JSON. */
void cli_note(struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The number of --limit, as far as a list may be long; PAWL_LIST_DEFAULT without it. */
static inline int cli_limit(const struct cli *cli) {
    const struct flag_value *flag = cli_flag(cli, FLAG_LIMIT);
    if (!flag->set)
        return PAWL_LIST_DEFAULT;
    return flag->number < PAWL_LIST_MAX ? (int)flag->number : PAWL_LIST_MAX;
}

/* The caller for put_spans.h: creates spans if OTEL_… asks for them, as children of TRACEPARENT from the
 * environment, which pawl sets for its handlers. */
struct putter cli_putter(struct cli *cli, struct arena *arena);

/*
 * Asks a person; without a terminal --yes is needed. PAWL_OK to go on; PAWL_CONFLICT when the answer is no,
 * or there is no terminal to ask on. question has no question mark.
 */
PAWL_MUSTCHECK pawl_status cli_confirm(struct cli *cli, const char *question, pawl_error *err);

#endif
