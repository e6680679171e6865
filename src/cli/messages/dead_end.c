/* pawl dead redrive and pawl dead discard. */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/audit.h"
#include "cli/commands.h"
#include "cli/front.h"
#include "cli/messages/list.h"
#include "operations/messages.h"
#include "view/message.h"
#include "view/names.h"

/* One dead letter that the verb is about. */
struct letter {
    struct dead_ref ref;
    pawl_uuid id;
};

struct verb {
    const char *name;
    const char *past;
    bool destroys; /* asks also when ids are given */
    pawl_status (*apply)(struct store *store, const struct dead_ref *refs, size_t count, struct arena *arena,
                         struct answer_list *out, pawl_error *err);
};

struct letters {
    struct letter *rows; /* malloc */
    size_t count, cap;
    int64_t parked; /* left out: they follow the one they wait for */
};

static pawl_status add(struct letters *letters, const struct message_row *row, pawl_error *err) {
    if (letters->count == letters->cap) {
        size_t cap = letters->cap > 0 ? letters->cap * 2 : 256;
        struct letter *rows = reallocarray(letters->rows, cap, sizeof *rows);
        if (rows == NULL)
            return error_set(err, PAWL_NO_MEMORY, "dead", "no memory for %zu dead letters", cap);
        letters->rows = rows;
        letters->cap = cap;
    }
    letters->rows[letters->count++] =
        (struct letter){.ref = {.kind = row->item.kind, .seq = row->item.seq}, .id = row->item.id};
    return PAWL_OK;
}

static pawl_status add_filtered(void *self, const struct message_row *row, pawl_error *err) {
    struct letters *letters = self;
    if (row->reason == DEAD_PARKED) {
        letters->parked++;
        return PAWL_OK;
    }
    return add(letters, row, err);
}

static pawl_status collect_ids(struct cli *cli, struct letters *letters, pawl_error *err) {
    struct request request = front_request(cli);
    for (int i = 0; i < cli->arguments.word_count; i++) {
        const char *word = cli->arguments.words[i];
        pawl_uuid id;
        struct message_rows rows = {.count = 0};
        pawl_status status = cli_uuid(word, &id, err);
        if (status == PAWL_OK)
            status = messages_with_id(&request, id, STATE_DEAD, 0, &rows, err);
        for (size_t row = 0; status == PAWL_OK && row < rows.count; row++)
            status = add(letters, &rows.rows[row], err);
        if (status != PAWL_OK && status != PAWL_NOT_FOUND)
            return status;
        if (rows.count == 0)
            return error_set(err, PAWL_NOT_FOUND, "dead", "there is no dead letter with id %s", word);
    }
    return PAWL_OK;
}

/* Ids or filters, so that nothing is redriven or discarded by leaving something out. */
static pawl_status check(struct cli *cli, pawl_error *err) {
    const flag_bits filters = FLAG(KIND) | FLAG(STREAM) | FLAG(TYPE) | FLAG(TOPIC) | FLAG(FINGERPRINT) |
                              FLAG(ALL);
    bool filtered = false;
    for (int id = 0; id < FLAG_TOTAL; id++)
        filtered = filtered || ((filters & FLAG_BIT(id)) != 0 && cli_flag(cli, (enum flag_id)id)->set);
    bool ids = cli->arguments.word_count > 0;
    if (ids == filtered)
        return error_set(err, PAWL_INVALID, "dead", "%s",
                         ids ? "ids and filters exclude each other: give one of them"
                             : "it needs ids, or a filter such as --type or --fingerprint, or --all");
    return cli_check_ids(cli, err);
}

static pawl_status collect(struct cli *cli, struct letters *letters, pawl_error *err) {
    if (cli->arguments.word_count > 0)
        return collect_ids(cli, letters, err);
    struct message_filter filter = message_filter_of(cli);
    filter.state = STATE_DEAD;
    const struct flag_value *limit = cli_flag(cli, FLAG_LIMIT);
    return messages_visit(cli->store, filter, limit->set ? limit->number : 0, add_filtered, letters, err);
}

static const struct column columns[] = {
    {COLUMN(UUID, "id")}, {COLUMN(TEXT, "kind")}, {COLUMN(INT, "seq")}, {COLUMN(TEXT, "answer")}};

static void print_letter(struct cli *cli, const struct letter *letter, const char *answer) {
    struct cell cells[] = {cell_uuid(letter->id), cell_cstr(kind_name(letter->ref.kind)),
                           cell_int(letter->ref.seq), cell_cstr(answer)};
    output_list_row(&cli->output, cells);
}

/* Applies the verb in calls of a batch each; *refused counts what was not applied. */
static pawl_status apply(struct cli *cli, const struct verb *verb, const struct letters *letters,
                         int64_t *refused, pawl_error *err) {
    const struct flag_value *rate = cli_flag(cli, FLAG_RATE);
    struct dead_ref *refs = arena_array(cli->arena, PAWL_BATCH_DEFAULT, sizeof *refs);
    if (refs == NULL)
        return error_set(err, PAWL_NO_MEMORY, "dead", "no memory for a batch");
    for (size_t at = 0; at < letters->count;) {
        size_t most = rate->set && rate->number < PAWL_BATCH_DEFAULT ? (size_t)rate->number
                                                                     : PAWL_BATCH_DEFAULT;
        size_t count = letters->count - at < most ? letters->count - at : most;
        if (rate->set && at > 0) {
            int64_t pause_ms = (int64_t)count * 1000 / rate->number;
            nanosleep(&(struct timespec){(time_t)(pause_ms / 1000), (long)(pause_ms % 1000) * 1000000}, NULL);
        }
        for (size_t i = 0; i < count; i++)
            refs[i] = letters->rows[at + i].ref;
        struct answer_list answers;
        pawl_status status = verb->apply(cli->store, refs, count, cli->arena, &answers, err);
        if (status != PAWL_OK) {
            cli->hint =
                arena_printf(cli->arena, "%zu of %zu were %s before that.", at, letters->count, verb->past);
            return status;
        }
        for (size_t i = 0; i < count; i++) {
            print_letter(cli, &letters->rows[at + i], answer_name(answers.answers[i]));
            *refused += answers.answers[i] != ANSWER_APPLIED;
        }
        at += count;
    }
    return PAWL_OK;
}

static pawl_status confirm(struct cli *cli, const struct verb *verb, const struct letters *letters,
                           pawl_error *err) {
    if (letters->count == 0 || (cli->arguments.word_count > 0 && !verb->destroys))
        return PAWL_OK;
    char question[128];
    snprintf(question, sizeof question, "%s %zu dead letter%s%s", verb->name, letters->count,
             letters->count == 1 ? "" : "s", verb->destroys ? " (their messages are lost)" : "");
    return cli_confirm(cli, question, err);
}

/* What was asked for, with its filters, and how many it was. */
static pawl_status note(struct cli *cli, const struct verb *verb, int64_t count, pawl_error *err) {
    struct buf detail;
    buf_init(&detail, PAWL_METADATA_BYTES_MAX);
    buf_printf(&detail, "%" PRId64 " %s", count, verb->past);
    for (int id = 0; id < FLAG_TOTAL; id++) {
        const struct flag_value *flag = cli_flag(cli, (enum flag_id)id);
        if (flag->set)
            buf_printf(&detail, " --%s%s%.*s", flag_rows[id].name, flag->text.len > 0 ? " " : "",
                       STR_ARG(flag->text));
    }
    for (int i = 0; i < cli->arguments.word_count && detail.len < PAWL_METADATA_BYTES_MAX - 64; i++)
        buf_printf(&detail, " %s", cli->arguments.words[i]);
    const char *text = detail.failed ? verb->past : arena_strdup(cli->arena, detail.ptr);
    buf_free(&detail);
    return audit_note(cli, arena_printf(cli->arena, "dead %s", verb->name), text, err);
}

static pawl_status run_verb(struct cli *cli, const struct verb *verb, pawl_error *err) {
    struct letters letters = {.count = 0};
    int64_t refused = 0;
    bool dry = cli_flag(cli, FLAG_DRY_RUN)->set;
    pawl_status status = collect(cli, &letters, err);
    if (status == PAWL_OK && !dry)
        status = confirm(cli, verb, &letters, err);
    if (status == PAWL_OK) {
        output_list_begin(&cli->output, columns, sizeof columns / sizeof *columns);
        for (size_t i = 0; dry && i < letters.count; i++)
            print_letter(cli, &letters.rows[i], "dry run");
        if (!dry)
            status = apply(cli, verb, &letters, &refused, err);
    }
    if (status == PAWL_OK)
        status = output_list_end(&cli->output, "no dead letters", err);
    if (status == PAWL_OK) {
        output_say(&cli->output, "%" PRId64 " %s%s", (int64_t)letters.count - refused, dry ? "would be " : "",
                   verb->past);
        if (letters.parked > 0)
            output_say(&cli->output, "%" PRId64 " parked ones follow the dead letter they wait for",
                       letters.parked);
    }
    if (status == PAWL_OK && !dry && letters.count > 0)
        status = note(cli, verb, (int64_t)letters.count - refused, err);
    if (status == PAWL_OK && refused > 0) {
        cli->hint = "A parked message follows the dead letter it waits for: name that one.";
        status = error_set(err, PAWL_CONFLICT, "dead", "%" PRId64 " of %zu were not %s", refused,
                           letters.count, verb->past);
    }
    free(letters.rows);
    return status;
}

static pawl_status redrive(struct cli *cli, pawl_error *err) {
    struct verb verb = {"redrive", "redriven", false, cli->store->ops->core.dead_redrive};
    return run_verb(cli, &verb, err);
}

static pawl_status discard(struct cli *cli, pawl_error *err) {
    struct verb verb = {"discard", "discarded", true, cli->store->ops->core.dead_discard};
    return run_verb(cli, &verb, err);
}

#define VERB_FLAGS                                                                                           \
    (FLAG(KIND) | FLAG(STREAM) | FLAG(TYPE) | FLAG(TOPIC) | FLAG(FINGERPRINT) | FLAG(LIMIT) | FLAG(ALL) |    \
     FLAG(YES) | FLAG(DRY_RUN) | FLAG(RATE))

static const struct command commands[] = {
    {COMMAND("dead redrive", "Redrive dead letters: give them another round of attempts"),
     .arguments = "[ID]...", .flags = VERB_FLAGS, .limit_other = true, .check = check, .writes = true,
     .details = "Dead letters are named by id, by filters, or with --all. Filters show the count and ask for "
                "confirmation; without a terminal they need --yes. Parked ones are redriven, in order, with "
                "the dead letter they wait for. A message whose stream continued without it runs next and is "
                "marked out of order.",
     .example = "pawl dead redrive 01890a5d-ac96-774b-bcce-b302099a8057\n"
                "pawl dead redrive --fingerprint 9c1f2a --dry-run",
     .run = redrive},
    {COMMAND("dead discard", "Discard dead letters: their messages are lost"), .arguments = "[ID]...",
     .flags = VERB_FLAGS, .limit_other = true, .check = check, .writes = true,
     .details = "Takes the same ids and filters as pawl dead redrive, and always asks: without a terminal it "
                "needs --yes. A stream that was blocked or parked by the dead letter goes on.",
     .example = "pawl dead discard --type order.test --yes", .run = discard},
};

const struct command_table dead_end_commands = COMMAND_TABLE(commands);
