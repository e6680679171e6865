/* The text that explains why a message waits and what to do. */
#include "view/why/story.h"

#include <string.h>

#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "view/names.h"
#include "view/output/grid.h"

/* The facts the sentences are built from. */
struct story {
    const struct why *why;
    const struct why_pause *pause;
    struct buf *text;
    struct buf *next;
    char id[UUID_TEXT_BYTES];
    char instance[UUID_TEXT_BYTES];
    char blocker[UUID_TEXT_BYTES];
};

char *why_moment(int64_t wall_ms, int64_t now_ms, char text[static WHY_MOMENT_BYTES]) {
    char iso[CLOCK_ISO_BYTES];
    char age[OUTPUT_AGE_BYTES];
    clock_format_iso(wall_ms, iso);
    snprintf(text, WHY_MOMENT_BYTES, "%.19sZ (%s)", iso, output_age(wall_ms, now_ms, age));
    return text;
}

void why_tell(struct buf *buf, const char *fmt, ...) {
    AUTO_BUF(text, 0);
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&text, fmt, args);
    va_end(args);
    grid_escape(buf, buf_str(&text));
    buf->failed = buf->failed || text.failed;
}

static void append_error(struct buf *buf, pawl_str error) {
    if (str_absent(error) || error.len == 0)
        return;
    const char *end = memchr(error.ptr, '\n', error.len);
    why_tell(buf, " Last error: %.*s", (int)(end != NULL ? end - error.ptr : (ptrdiff_t)error.len),
             error.ptr);
    if (buf->len > 0 && strchr(".!?", buf->ptr[buf->len - 1]) == NULL)
        buf_append_char(buf, '.');
}

static void tell_opening(struct story *story) {
    const struct item *item = &story->why->row.item;
    why_tell(story->text, "Message %s (%s, type %.*s", story->id, kind_name(item->kind), STR_ARG(item->type));
    if (str_absent(item->stream)) {
        buf_append_cstr(story->text, ", no stream");
    } else {
        why_tell(story->text, ", stream %.*s", STR_ARG(item->stream));
    }
    why_tell(story->text, ") was put %s. ", MOMENT(item->put_ms, story->why->now_ms));
}

/* One step further: why the message in front is not done. */
static const char *blocker_phrase(enum why_cause cause) {
    switch (cause) {
    case WHY_RUNNING:
        return "is running right now";
    case WHY_LEASE_OVER:
        return "was leased by a worker whose lease has expired, and is recovered by the next claim";
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
        return "may have begun when its worker died, and is run alone";
    case WHY_DEAD:
        return "is a dead letter";
    case WHY_BEHIND:
    case WHY_BLOCKED:
        return "waits itself";
    case WHY_UNKNOWN_MESSAGE:
    case WHY_DONE:
    case WHY_PAUSED:
    case WHY_CANCELLED:
        break;
    }
    return "is unfinished";
}

static void tell_lane(struct story *story) {
    const struct why *why = story->why;
    const char *kind = kind_name(why->row.item.kind);
    if (why->many_ahead)
        buf_printf(
            story->text,
            "It is ready. More than %d messages of its lane are in front of it; none of the first ones "
            "is of its stream. ",
            PAWL_WHY_AHEAD);
    else
        buf_append_cstr(story->text, "It is ready, and nothing of its stream is in front of it. ");
    buf_printf(story->text, "Its lane %d ", why->row.item.lane);
    switch (why->cause) {
    case WHY_NO_OWNER:
        buf_printf(story->text, "has no owner: no live instance works on the %s.", kind);
        buf_printf(story->next, "Start a worker for the %s; pawl instance list shows the workers.", kind);
        return;
    case WHY_OWNER_SILENT:
        buf_printf(story->text, "belongs to instance %s, which no longer sends heartbeats.", story->instance);
        buf_printf(story->next,
                   "Its lanes become free when another instance next looks: start one, or run pawl instance "
                   "evict %s.",
                   story->instance);
        return;
    case WHY_DRAINING:
        buf_printf(story->text, "is being handed over by instance %s, and moves when its last claim ends.",
                   story->instance);
        buf_append_cstr(story->next, "Wait for the claims in flight; pawl partition list shows them.");
        return;
    default:
        buf_printf(story->text, "belongs to live instance %s, which claims it next or soon.",
                   story->instance);
        buf_append_cstr(story->next,
                        "Nothing; if it stays like this, look whether that instance is overloaded with "
                        "pawl instance list.");
        return;
    }
}

static void tell_leased(struct story *story) {
    const struct why *why = story->why;
    if (why->cause == WHY_RUNNING) {
        why_tell(story->text, "It is running: attempt %d, leased by instance %s until %s.",
                 why->row.item.attempt, story->instance, MOMENT(why->until_ms, why->now_ms));
        buf_printf(story->next,
                   "Nothing; if that instance hangs, pawl instance evict %s takes the work away.",
                   story->instance);
        return;
    }
    why_tell(
        story->text,
        "It was leased by instance %s, but the lease ended %s. It is taken back at the next claim, and a "
        "death is counted.",
        story->instance, MOMENT(why->until_ms, why->now_ms));
    buf_append_cstr(story->next,
                    "Nothing if a worker is running; otherwise start one (pawl instance list shows them).");
}

static void tell_waiting(struct story *story) {
    const struct why *why = story->why;
    if (why->cause == WHY_BEHIND) {
        buf_printf(
            story->text,
            "It is not running because the earlier message %s of its stream is unfinished: that one %s.",
            story->blocker, blocker_phrase(why->blocker_cause));
        buf_printf(story->next, "pawl why %s tells more about the message in front.", story->blocker);
        return;
    }
    if (why->cause == WHY_BLOCKED) {
        buf_printf(story->text, "It is not running because its stream is blocked by dead letter %s.",
                   story->blocker);
        buf_printf(
            story->next,
            "Look with pawl message show %s, then pawl message retry %s to try it again or pawl message "
            "delete %s to "
            "go on without it.",
            story->blocker, story->blocker, story->blocker);
        return;
    }
    const char *reason = reason_name(why->row.state, why->row.reason);
    if (why->cause == WHY_SUSPECT)
        buf_printf(
            story->text,
            "A worker may have died of it (%d such death%s counted so far), so it is run alone, one such "
            "message at a time per instance; it is due since ",
            why->row.item.deaths, why->row.item.deaths == 1 ? "" : "s");
    else
        buf_printf(story->text, "It waits for its next attempt (%s, %d failed so far), due ",
                   reason != NULL ? reason : "aside", why->row.attempts);
    why_tell(story->text, "%s.",
             MOMENT(why->until_ms != 0 ? why->until_ms : why->row.scheduled_ms, why->now_ms));
    append_error(story->text, why->row.error);
    buf_append_cstr(story->next, "Nothing if a worker is running: it is claimed when it is due.");
}

static void tell_who(struct story *story) {
    const struct pause_row *row = &story->pause->row;
    why_tell(story->text, " since %s by %.*s", MOMENT(row->since_ms, story->why->now_ms),
             STR_ARG(row->actor));
    if (!str_absent(row->reason) && row->reason.len > 0) {
        why_tell(story->text, ": %.*s", STR_ARG(row->reason));
    }
    buf_append_char(story->text, '.');
}

static void tell_paused(struct story *story) {
    static const char *const scopes[] = {[PAUSE_TOPIC] = "topic",
                                         [PAUSE_STREAM] = "stream",
                                         [PAUSE_HANDLER] = "handler",
                                         [PAUSE_MESSAGE] = "message"};
    const struct pause_row *row = &story->pause->row;
    if (story->why->cause == WHY_CANCELLED) {
        buf_append_cstr(story->text, "It is cancelled");
        tell_who(story);
        buf_append_cstr(story->text, " It becomes a dead letter when its worker next looks.");
        buf_printf(story->next,
                   "Nothing if a worker is running; pawl resume message %s takes it back until then.",
                   story->id);
        return;
    }
    if (story->pause->front)
        buf_printf(
            story->text,
            "It is waiting for the earlier message %s of its stream, which does not run: ", story->blocker);
    else
        buf_append_cstr(story->text, "It does not run: ");
    buf_printf(story->text, row->scope == PAUSE_MESSAGE ? "the %s " : "its %s ", scopes[row->scope]);
    grid_escape(story->text, row->name);
    buf_append_cstr(story->text, row->scope == PAUSE_MESSAGE ? " is cancelled" : " is paused");
    tell_who(story);
    why_tell(story->next, "pawl resume %s '%.*s' lets it go on.", scopes[row->scope], STR_ARG(row->name));
}

static void tell_ended(struct story *story) {
    const struct why *why = story->why;
    if (why->cause == WHY_DONE) {
        why_tell(story->text, "It is done since %s.", MOMENT(why->row.ended_ms, why->now_ms));
        buf_append_cstr(story->next, "Nothing.");
        return;
    }
    static const char *const causes[] = {
        [DEAD_ATTEMPTS] = "all its attempts failed",
        [DEAD_PERMANENT] = "its handler said that no attempt can succeed",
        [DEAD_KILLED] = "its workers died with it too often",
        [DEAD_PARKED] = "it is parked because of a dead letter of its stream",
        [DEAD_CANCELLED] = "a person has ended it",
    };
    int reason = why->row.reason;
    bool parked = reason == DEAD_PARKED;
    why_tell(story->text, "It is a dead letter since %s", MOMENT(why->row.ended_ms, why->now_ms));
    if (reason >= DEAD_ATTEMPTS && reason <= DEAD_CANCELLED)
        buf_printf(story->text, ": %s", causes[reason]);
    buf_append_char(story->text, '.');
    if (reason == DEAD_CANCELLED && !str_absent(why->row.error)) {
        why_tell(story->text, " It was %.*s.", STR_ARG(why->row.error));
    } else {
        append_error(story->text, why->row.error);
    }
    if (parked && !uuid_is_nil(why->blocker_id))
        buf_printf(story->next, "pawl message retry %s retries the one in front, and this one with it.",
                   story->blocker);
    else if (parked)
        buf_append_cstr(
            story->next,
            "Retry the dead letter in front of it: pawl message list --state dead --stream shows it.");
    else
        buf_printf(story->next, "%s pawl message retry %s%s give the message up with pawl message delete %s.",
                   reason == DEAD_CANCELLED ? "If it is to run after all:" : "Remove the cause, then",
                   story->id, reason == DEAD_CANCELLED ? "; otherwise" : "; or", story->id);
}

/* An open transaction blocks everyone else from what it has locked, so it is mentioned first. */
static void tell_locked(struct story *story) {
    const struct why *why = story->why;
    if (why->locked_pid == 0)
        return;
    why_tell(story->text, " Its %.*s is locked by an open transaction of process %d (%.*s)",
             STR_ARG(why->locked), why->locked_pid,
             STR_ARG(why->locked_by.len > 0 ? why->locked_by : str_from("no application_name")));
    if (why->locked_since_ms != 0) {
        why_tell(story->text, " since %s", MOMENT(why->locked_since_ms, why->now_ms));
    }
    buf_append_cstr(story->text, "; no other worker runs it until that ends.");
    buf_reset(story->next);
    buf_printf(story->next,
               "Nothing if that transaction ends soon; otherwise end its session with SELECT "
               "pg_terminate_backend(%d), and repair its program.",
               why->locked_pid);
}

static void tell_cause(struct story *story) {
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
    case WHY_PAUSED:
    case WHY_CANCELLED:
        tell_paused(story);
        return;
    case WHY_UNKNOWN_MESSAGE:
        return;
    }
}

void why_story(const struct why *why, const struct why_pause *pause, struct buf *text, struct buf *next) {
    struct story story = {.why = why, .pause = pause, .text = text, .next = next};
    uuid_format(why->row.item.id, story.id);
    uuid_format(why->instance, story.instance);
    uuid_format(why->blocker_id, story.blocker);
    tell_opening(&story);
    tell_cause(&story);
    tell_locked(&story);
}
