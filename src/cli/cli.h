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
    struct arena *page;    /* of an operation, or of one page of its list */
    bool again;            /* the operation waits, and runs once more */
    int64_t wait_until_ms; /* of the clock since boot; 0: it has not waited */
    bool more;             /* the operation's list has another page, which begins at … */
    struct buf next;
    bool probing, found; /* the list is over, but were there more rows? */
    const char *cut_at;  /* its last row, when --limit cut it */
    const char *below;   /* what to say below the list; NULL: nothing */
};

/* An input of the command, or an absent one. */
struct value cli_value(const struct cli *cli, const char *name);

/* Something about the answer that is not part of it: below a table, on standard error beside JSON. */
void cli_note(struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The caller for put_spans.h: creates spans if OTEL_… asks for them, as children of TRACEPARENT from the
 * environment, which pawl sets for its handlers. */
struct putter cli_putter(struct cli *cli, struct arena *arena);

/*
 * Asks a person; without a terminal --yes is needed. PAWL_OK to go on; PAWL_CONFLICT when the answer is no,
 * or there is no terminal to ask on. question has no question mark.
 */
PAWL_MUSTCHECK pawl_status cli_confirm(struct cli *cli, const char *question, pawl_error *err);

#endif
