/* pawl why: what a message is waiting for, in one paragraph. */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "cli/commands.h"
#include "cli/message_view.h"
#include "cli/names.h"

/* The paragraph under construction, and what to do next. */
struct story {
    const struct why *why;
    struct buf text;
    struct buf next;
    char id[UUID_TEXT_BYTES];
    char instance[UUID_TEXT_BYTES];
    char blocker[UUID_TEXT_BYTES];
};

static void append_time(struct buf *buf, int64_t wall_ms, int64_t now_ms) {
    char iso[CLOCK_ISO_BYTES];
    char age[OUTPUT_AGE_BYTES];
    clock_format_iso(wall_ms, iso);
    buf_printf(buf, "%.19sZ (%s)", iso, output_age(wall_ms, now_ms, age));
}

static void append_error(struct buf *buf, pawl_str error) {
    if (str_absent(error) || error.len == 0)
        return;
    const char *end = memchr(error.ptr, '\n', error.len);
    buf_append_cstr(buf, " Last error: ");
    grid_escape(buf, (pawl_str){error.ptr, end != NULL ? (size_t)(end - error.ptr) : error.len});
    if (buf->len > 0 && strchr(".!?", buf->ptr[buf->len - 1]) == NULL)
        buf_append_char(buf, '.');
}

static void tell_opening(struct story *story) {
    const struct item *item = &story->why->row.item;
    buf_printf(&story->text, "Message %s (%s, type ", story->id, kind_name(item->kind));
    grid_escape(&story->text, item->type);
    if (str_absent(item->stream)) {
        buf_append_cstr(&story->text, ", no stream");
    } else {
        buf_append_cstr(&story->text, ", stream ");
        grid_escape(&story->text, item->stream);
    }
    buf_append_cstr(&story->text, ") was put ");
    append_time(&story->text, item->put_ms, story->why->now_ms);
    buf_append_cstr(&story->text, ". ");
}

/* One step further: why the message in front is not done. */
static const char *blocker_phrase(enum why_cause cause) {
    switch (cause) {
    case WHY_RUNNING:
        return "is running right now";
    case WHY_LEASE_OVER:
        return "was leased by a worker whose lease is over, and is taken back at the next claim";
    case WHY_READY:
        return "is ready and comes first";
    case WHY_NO_OWNER:
        return "is ready, but its lane has no owner";
    case WHY_OWNER_SILENT:
        return "is ready, but the owner of its lane is silent";
    case WHY_DRAINING:
        return "is ready, but its lane is being handed over";
    case WHY_SCHEDULED:
        return "failed or was given back, and waits for its next attempt";
    case WHY_SUSPECT:
        return "was in flight when its worker died, and is run alone";
    case WHY_DEAD:
        return "is a dead letter";
    case WHY_BEHIND:
    case WHY_BLOCKED:
        return "waits itself";
    case WHY_UNKNOWN_MESSAGE:
    case WHY_DONE:
        break;
    }
    return "is unfinished";
}

static void tell_lane(struct story *story) {
    const struct why *why = story->why;
    const char *kind = kind_name(why->row.item.kind);
    buf_printf(&story->text, "It is ready, and nothing of its stream is in front of it. Its lane %d ",
               why->row.item.lane);
    switch (why->cause) {
    case WHY_NO_OWNER:
        buf_printf(&story->text, "has no owner: no live instance works on the %s.", kind);
        buf_printf(&story->next, "Start a worker for the %s; pawl instances shows who is there.", kind);
        return;
    case WHY_OWNER_SILENT:
        buf_printf(&story->text, "belongs to instance %s, which no longer sends heartbeats.",
                   story->instance);
        buf_printf(&story->next,
                   "Its lanes become free when another instance next looks: start one, or run pawl instances "
                   "evict %s.",
                   story->instance);
        return;
    case WHY_DRAINING:
        buf_printf(&story->text, "is being handed over by instance %s, and moves when its last claim ends.",
                   story->instance);
        buf_append_cstr(&story->next, "Wait for the claims in flight; pawl partitions shows them.");
        return;
    default:
        buf_printf(&story->text, "belongs to live instance %s, which claims it next or soon.",
                   story->instance);
        buf_append_cstr(&story->next,
                        "Nothing; if it stays like this, look whether that instance is overloaded with "
                        "pawl instances.");
        return;
    }
}

static void tell_leased(struct story *story) {
    const struct why *why = story->why;
    if (why->cause == WHY_RUNNING) {
        buf_printf(&story->text, "It is running: attempt %d, leased by instance %s until ",
                   why->row.item.attempt, story->instance);
        append_time(&story->text, why->until_ms, why->now_ms);
        buf_append_char(&story->text, '.');
        buf_printf(&story->next,
                   "Nothing; if that instance hangs, pawl instances evict %s takes the work away.",
                   story->instance);
        return;
    }
    buf_printf(&story->text, "It was leased by instance %s, but the lease ended ", story->instance);
    append_time(&story->text, why->until_ms, why->now_ms);
    buf_append_cstr(&story->text, ". It is taken back at the next claim, and a death is counted.");
    buf_append_cstr(&story->next,
                    "Nothing if a worker is running; otherwise start one (pawl instances shows them).");
}

static void tell_waiting(struct story *story) {
    const struct why *why = story->why;
    if (why->cause == WHY_BEHIND) {
        buf_printf(
            &story->text,
            "It is not running because the earlier message %s of its stream is unfinished: that one %s.",
            story->blocker, blocker_phrase(why->blocker_cause));
        buf_printf(&story->next, "pawl why %s tells more about the message in front.", story->blocker);
        return;
    }
    if (why->cause == WHY_BLOCKED) {
        buf_printf(&story->text, "It is not running because its stream is blocked by dead letter %s.",
                   story->blocker);
        buf_printf(&story->next,
                   "Look with pawl dead show %s, then pawl dead redrive %s to try it again or pawl dead "
                   "discard %s to "
                   "go on without it.",
                   story->blocker, story->blocker, story->blocker);
        return;
    }
    const char *reason = reason_name(why->row.state, why->row.reason);
    if (why->cause == WHY_SUSPECT)
        buf_printf(&story->text,
                   "Its worker died with it (%d time%s), so it is run alone, one such message at a time per "
                   "instance; "
                   "it is due since ",
                   why->row.item.deaths, why->row.item.deaths == 1 ? "" : "s");
    else
        buf_printf(&story->text, "It waits for its next attempt (%s, %d failed so far), due ",
                   reason != NULL ? reason : "aside", why->row.attempts);
    append_time(&story->text, why->until_ms != 0 ? why->until_ms : why->row.scheduled_ms, why->now_ms);
    buf_append_char(&story->text, '.');
    append_error(&story->text, why->row.error);
    buf_append_cstr(&story->next, "Nothing if a worker is running: it is claimed when it is due.");
}

static void tell_ended(struct story *story) {
    const struct why *why = story->why;
    if (why->cause == WHY_DONE) {
        buf_append_cstr(&story->text, "It is done since ");
        append_time(&story->text, why->row.ended_ms, why->now_ms);
        buf_append_char(&story->text, '.');
        buf_append_cstr(&story->next, "Nothing.");
        return;
    }
    static const char *const causes[] = {
        [DEAD_ATTEMPTS] = "all its attempts failed",
        [DEAD_PERMANENT] = "its handler said that no attempt can succeed",
        [DEAD_KILLED] = "its workers died with it too often",
        [DEAD_PARKED] = "it is parked behind a dead letter of its stream",
    };
    int reason = why->row.reason;
    bool parked = reason == DEAD_PARKED;
    buf_append_cstr(&story->text, "It is a dead letter since ");
    append_time(&story->text, why->row.ended_ms, why->now_ms);
    if (reason >= DEAD_ATTEMPTS && reason <= DEAD_PARKED)
        buf_printf(&story->text, ": %s", causes[reason]);
    buf_append_char(&story->text, '.');
    append_error(&story->text, why->row.error);
    if (parked && !uuid_is_nil(why->blocker_id))
        buf_printf(&story->next, "pawl dead redrive %s redrives the one in front, and this one with it.",
                   story->blocker);
    else if (parked)
        buf_append_cstr(&story->next,
                        "Redrive the dead letter in front of it: pawl dead list --stream shows it.");
    else
        buf_printf(
            &story->next,
            "Remove the cause, then pawl dead redrive %s; or give the message up with pawl dead discard %s.",
            story->id, story->id);
}

static void tell(struct story *story) {
    tell_opening(story);
    switch (story->why->cause) {
    case WHY_RUNNING:
    case WHY_LEASE_OVER:
        tell_leased(story);
        return;
    case WHY_READY:
    case WHY_NO_OWNER:
    case WHY_OWNER_SILENT:
    case WHY_DRAINING:
        tell_lane(story);
        return;
    case WHY_BEHIND:
    case WHY_BLOCKED:
    case WHY_SCHEDULED:
    case WHY_SUSPECT:
        tell_waiting(story);
        return;
    case WHY_DEAD:
    case WHY_DONE:
        tell_ended(story);
        return;
    case WHY_UNKNOWN_MESSAGE:
        return;
    }
}

static pawl_status print_json(struct cli *cli, const struct story *story, pawl_error *err) {
    static const struct column columns[] = {
        {.key = "id", .type = CELL_UUID},
        {.key = "cause", .type = CELL_TEXT},
        {.key = "state", .type = CELL_TEXT},
        {.key = "explanation", .type = CELL_TEXT},
        {.key = "next", .type = CELL_TEXT},
        {.key = "instance", .type = CELL_UUID},
        {.key = "until", .type = CELL_TIME},
        {.key = "now", .type = CELL_TIME},
        {.key = "blocker_id", .type = CELL_UUID},
        {.key = "blocker_seq", .type = CELL_INT},
        {.key = "blocker_cause", .type = CELL_TEXT},
        {.key = "message", .type = CELL_JSON},
    };
    const struct why *why = story->why;
    struct cell message_values[MESSAGE_COLUMNS];
    struct buf message;
    buf_init(&message, 0);
    message_cells(&why->row, message_values);
    output_cells_json(&message, message_columns, MESSAGE_COLUMNS, message_values);
    bool blocked = !uuid_is_nil(why->blocker_id);
    struct cell cells[] = {
        cell_uuid(why->row.item.id),
        cell_cstr(cause_name(why->cause)),
        cell_cstr(state_name(why->row.state)),
        cell_text(buf_str(&story->text)),
        cell_text(buf_str(&story->next)),
        cell_uuid(why->instance),
        cell_time(why->until_ms),
        cell_time(why->now_ms),
        cell_uuid(why->blocker_id),
        blocked ? cell_int(why->blocker_seq) : cell_none(),
        blocked ? cell_cstr(cause_name(why->blocker_cause)) : cell_none(),
        cell_text(buf_str(&message)),
    };
    pawl_status status = buf_status(&message, "why", err);
    if (status == PAWL_OK)
        status = output_record(&cli->output, columns, sizeof columns / sizeof *columns, cells, err);
    buf_free(&message);
    return status;
}

static pawl_status run(struct cli *cli, pawl_error *err) {
    pawl_uuid id;
    struct why why;
    pawl_status status = cli_uuid(cli->arguments.words[0], &id, err);
    if (status == PAWL_OK)
        status = cli->store->ops->view.why(cli->store, id, cli->arena, &why, err);
    if (status == PAWL_NOT_FOUND) {
        cli->hint = "It may be done and no longer kept: see pawl settings show for how long the history is.";
        return error_set(err, status, "why", "there is no message with id %s", cli->arguments.words[0]);
    }
    if (status != PAWL_OK)
        return status;
    struct story story = {.why = &why};
    buf_init(&story.text, 0);
    buf_init(&story.next, 0);
    uuid_format(why.row.item.id, story.id);
    uuid_format(why.instance, story.instance);
    uuid_format(why.blocker_id, story.blocker);
    tell(&story);
    status = buf_status(&story.text, "why", err);
    if (status == PAWL_OK)
        status = buf_status(&story.next, "why", err);
    if (status == PAWL_OK && output_is_json(&cli->output))
        status = print_json(cli, &story, err);
    else if (status == PAWL_OK)
        output_say(&cli->output, "%s\nWhat to do: %s", story.text.ptr, story.next.ptr);
    buf_free(&story.text);
    buf_free(&story.next);
    return status;
}

const struct command command_why = {
    .path = "why",
    .summary = "Explain what a message is waiting for, and what to do",
    .arguments = "ID",
    .arguments_min = 1,
    .arguments_max = 1,
    .check = cli_check_ids,
    .database = DATABASE_OPEN,
    .details = "Tells the state and its cause: who runs it and until when, which message of the stream is in "
               "front of "
               "it and why that one waits, when the next attempt is, or that its lane has no owner. The JSON "
               "has the "
               "same facts.",
    .example = "pawl why 01890a5d-ac96-774b-bcce-b302099a8057",
    .run = run,
};
