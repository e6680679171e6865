/* Flags that belong to single commands: the table, and how a value is read. */
#include "operations/front/flags.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "view/names.h"

/* A row of the table, by the type of its value; in braces, so that `.input = …` may follow. */
#define TEXT_ROW(flag, word, text) .name = (flag), .type = FLAG_TEXT, .value = (word), .help = (text)
#define CHOICE_ROW(flag, word, words, text)                                                                  \
    .name = (flag), .type = FLAG_CHOICE, .value = (word), .choices = (words), .help = (text)
#define INT_ROW(flag, word, least, most, text)                                                               \
    .name = (flag), .type = FLAG_INT, .value = (word), .min = (least), .max = (most), .help = (text)
#define DURATION_ROW(flag, least, most, text)                                                                \
    .name = (flag), .type = FLAG_DURATION, .value = "DURATION", .min = (least), .max = (most), .help = (text)
#define TEXT(flag, word, text)                                                                               \
    { TEXT_ROW(flag, word, text) }
#define ID(flag, word, text)                                                                                 \
    { .name = (flag), .type = FLAG_UUID, .value = (word), .help = (text) }
#define SWITCH(flag, text)                                                                                   \
    { .name = (flag), .type = FLAG_SWITCH, .help = (text) }
#define CHOICE(flag, word, words, text)                                                                      \
    { CHOICE_ROW(flag, word, words, text) }
#define INT(flag, word, least, most, text)                                                                   \
    { INT_ROW(flag, word, least, most, text) }
#define DURATION(flag, least, most, text)                                                                    \
    { DURATION_ROW(flag, least, most, text) }

const struct flag_row flag_rows[FLAG_TOTAL] = {
    [FLAG_QUEUE] = TEXT("queue", "QUEUE", "The queue; \"default\" if not given."),
    [FLAG_JOB_STATE] = {CHOICE_ROW("job-state", "STATE", JOB_STATES,
                                   "Only jobs in this state: " JOB_STATES_SAID "."),
                        .input = "state"},
    [FLAG_TASK] = TEXT("task", "TASK", "The task."),
    [FLAG_KEY] = TEXT("key", "KEY", "The key whose limits (concurrency, rate, weight) apply to the job."),
    [FLAG_UNIQUE] = {TEXT_ROW("unique", "KEY",
                              "Only one unfinished job may have this key; a second is a duplicate."),
                     .input = "unique_key"},
    [FLAG_PRIORITY] = INT("priority", "N", -PAWL_JOB_PRIORITY_MAX, PAWL_JOB_PRIORITY_MAX,
                          "Higher runs first; one point counts as much as a minute of waiting."),
    [FLAG_PIPELINE] =
        TEXT("pipeline", "FILE", "The pipeline: JSON, or YAML when the name ends in .yaml or .yml."),
    [FLAG_PARAMS] = TEXT("params", "JSON|@FILE", "The parameters of the pipeline or run, an object."),
    [FLAG_AGENT] = TEXT("agent", "AGENT", "The agent whose scopes decide which tools may be used."),
    [FLAG_CRON] =
        TEXT("cron", "EXPR", "Run by cron: five or six fields, or @daily etc. (docs/schedules.md)."),
    [FLAG_EVERY] = TEXT("every", "DURATION", "Run at this interval."),
    [FLAG_AT] = TEXT("at", "TIME", "Run once, at a time such as 2026-01-02T03:04:05Z."),
    [FLAG_ZONE] = TEXT("zone", "ZONE", "The time zone of --cron, such as Europe/Berlin; UTC if not given."),
    [FLAG_MISSED] =
        CHOICE("missed", "POLICY", "skip|one|all", "Missed runs: skip them, run the last one, or run all."),
    [FLAG_OVERLAP] =
        CHOICE("overlap", "POLICY", "allow|skip|queue",
               "What to do while the schedule's previous job is unfinished: allow, skip or queue."),
    [FLAG_JITTER] =
        DURATION("jitter", 0, PAWL_SCHEDULE_JITTER_MS_MAX, "Delay each job by a random amount up to this."),
    [FLAG_START] = TEXT("start", "TIME", "No runs before this time."),
    [FLAG_END] = TEXT("end", "TIME", "No runs at or after this time; for a job, its deadline."),
    [FLAG_PERSPECTIVES_OUTSIDE] = SWITCH("perspectives-outside",
                                         "Also run perspectives that are programs or endpoints: the "
                                         "database says which."),
    [FLAG_EXPECT] = {INT_ROW("expect", "VERSION", 0, INT64_MAX,
                             "The version that the stream must be at; 0: it must not exist. Default: any."),
                     .input = "expected"},
    [FLAG_PUBLISH] = SWITCH("publish", "Also put an outbox message with the same id, type and payload."),
    [FLAG_FROM] = INT("from", "N", 0, INT64_MAX,
                      "The first version (of a stream) or position (of everything) to show."),
    [FLAG_BACKWARD] = SWITCH("backward", "Newest first."),
    [FLAG_AS_OF] =
        TEXT("as-of", "WHEN", "The stream as of an event id, or as of a time in milliseconds since 1970."),
    [FLAG_AT_VERSION] =
        INT("at-version", "VERSION", 1, INT64_MAX, "The version of --stream that must be applied."),
    [FLAG_POSITION] =
        INT("position", "POSITION", 1, INT64_MAX, "Everything up to this position must be applied."),
    [FLAG_DIGEST_OLD] =
        TEXT("digest-old", "SQL", "A query that reduces the old version's tables to one text."),
    [FLAG_DIGEST_NEW] =
        TEXT("digest-new", "SQL", "The same for the new version; the two texts must be equal."),
    [FLAG_RUN_KEY] =
        TEXT("run-key", "KEY", "The key of the run; starting a second run with the same key does nothing."),
    [FLAG_RUN_STATE] = {CHOICE_ROW(
                            "run-state", "STATE",
                            "running|consolidating|nested|repair|completed|failed|cancelled",
                            "Only runs in this state: running, consolidating, nested, repair, completed, "
                            "failed or cancelled."),
                        .input = "state"},
    [FLAG_PART_STATE] = {CHOICE_ROW("part-state", "STATE", "active|done|failed|cancelled",
                                    "Only partitions in this state: active, done, failed or cancelled."),
                         .input = "state"},
    [FLAG_OPEN] = SWITCH("open", "Only those that are still active."),
    [FLAG_STUCK] = {DURATION_ROW("stuck", 1, PAWL_HISTORY_MS_MAX,
                                 "Only active partitions that have not been updated for this long."),
                    .input = "quiet_ms"},
    [FLAG_WATCH] = SWITCH("watch", "Show it every second until it ends."),
    [FLAG_OFFSET] = INT("offset", "N", 0, INT64_MAX, "Where the next page begins."),
    [FLAG_CURSOR] = TEXT("cursor", "JSON", "The cursor that the next page is fetched with."),
    [FLAG_TIMEOUT] = DURATION("timeout", 1, PAWL_PIPELINE_TIMEOUT_MS_MAX, "The time limit."),
    [FLAG_KIND] =
        CHOICE("kind", "KIND", "outbox|inbox|perspective", "The kind of work: outbox, inbox or perspective."),
    [FLAG_STATE] = CHOICE("state", "STATE", "ready|leased|scheduled|blocked|dead|done",
                          "Only messages in this state: ready, leased, scheduled, blocked, dead or done. "
                          "Default: all but done."),
    [FLAG_STREAM] = TEXT("stream", "STREAM", "The stream: messages of one stream are handled in order."),
    [FLAG_TYPE] = TEXT("type", "TYPE", "Only this type."),
    [FLAG_TOPIC] =
        TEXT("topic", "TOPIC", "The topic: where an outbox message goes, where an inbox message came from."),
    [FLAG_FINGERPRINT] =
        TEXT("fingerprint", "FINGERPRINT",
             "Only dead letters with this fingerprint of their error (see pawl dead groups)."),
    [FLAG_LIMIT] = INT("limit", "N", 1, 1000000000, "At most this many rows."),
    [FLAG_AFTER] = INT("after", "NUMBER", 0, INT64_MAX,
                       "Only rows after this one: pass the seq, id or number of the last row seen to "
                       "get the next page."),
    [FLAG_ID] = ID("id", "UUID", "The id of the message or event. Default: a new UUIDv7."),
    [FLAG_HEADER] = {.name = "header",
                     .type = FLAG_TEXT,
                     .value = "KEY=VALUE",
                     .repeat = true,
                     .help = "A header of the message; may be given more than once."},
    [FLAG_CONSUMER] =
        TEXT("consumer", "CONSUMER", "The consumer: an inbox message is accepted once per consumer and id."),
    [FLAG_COUNT] = INT("count", "N", 1, 100000000, "Send N copies, each with its own id."),
    [FLAG_REQUEST] = ID("request", "UUID",
                        "An idempotency key: a second send with the same key within an hour writes "
                        "nothing and answers duplicate."),
    [FLAG_NDJSON] =
        TEXT("ndjson", "FILE",
             "Many at once: one JSON object per line with type, payload, stream, topic, id, headers, "
             "correlation_id, causation_id and traceparent; - is standard input. TYPE, --stream and "
             "--topic are used for lines that do not have their own."),
    [FLAG_CORRELATION] = ID("correlation-id", "UUID", "The id that all messages of one conversation share."),
    [FLAG_CAUSATION] = ID("causation-id", "UUID", "The id of the message that caused this one."),
    [FLAG_TRACEPARENT] = TEXT("traceparent", "TEXT", "The W3C trace context to carry along."),
    [FLAG_ALL] = SWITCH("all", "Everything, instead of ids or filters."),
    [FLAG_YES] = SWITCH("yes", "Do not ask for confirmation."),
    [FLAG_DRY_RUN] = SWITCH("dry-run", "Show what would be done and change nothing."),
    [FLAG_BEFORE] = DURATION("before", 0, PAWL_HISTORY_MS_MAX,
                             "Only what ended longer ago than this, such as 36h or 30d."),
    [FLAG_TO] = TEXT("to", "FILE", "The file to append JSON lines to; created if missing."),
    [FLAG_ON] = {.name = "on",
                 .type = FLAG_TEXT,
                 .value = "PATTERN=exec:COMMAND",
                 .repeat = true,
                 .help =
                     "Hand messages whose type matches the pattern (* and ?, any letter case) to a program; "
                     "may be given more than once, the first match wins."},
    [FLAG_HANDLERS] = TEXT("handlers", "FILE", "Read handlers from this file."),
    [FLAG_TRANSPORTS] =
        TEXT("transports", "FILE",
             "Broker settings: what is published and subscribed to, and where (docs/transports.md)."),
    [FLAG_KINDS] = TEXT("kinds", "KIND[,KIND]",
                        "What to work on: outbox, inbox, jobs, perspectives. Default: all but perspectives."),
    [FLAG_DRAIN] = DURATION("drain", 1, PAWL_LEASE_MS_MAX,
                            "How long to wait for running handlers when stopping. Default: 25s."),
    [FLAG_INSTANT] = SWITCH("instant", "Report every result immediately instead of with the next batch."),
    [FLAG_WAIT] = SWITCH("wait", "Wait for the database instead of failing when it cannot be reached."),
    [FLAG_UNTIL_IDLE] = SWITCH("until-idle",
                               "Stop when no due work is left, here or with other workers; work that waits "
                               "for a retry stays, and is reported."),
    [FLAG_HEAD] = TEXT("head", "HASH",
                       "An anchor that must still exist, as shown by pawl audit head, the log or /metrics."),
    [FLAG_REASON] = TEXT("reason", "TEXT", "The reason, for the record."),
    [FLAG_AT_ONCE] = {INT_ROW("at-once", "N", 0, PAWL_JOB_RATE_MAX,
                              "At most N jobs of the key run at the same time; 0: no limit."),
                      .input = "concurrency"},
    [FLAG_STARTS] = {INT_ROW("starts", "N", 0, PAWL_JOB_RATE_MAX,
                             "At most N jobs of the key start within --per; 0: no limit."),
                     .input = "rate"},
    [FLAG_PER] = {DURATION_ROW("per", 1, PAWL_LEASE_MS_MAX, "The interval for --starts; 1s if not given."),
                  .input = "rate_window_ms"},
    [FLAG_WEIGHT] = INT("weight", "N", 1, PAWL_JOB_WEIGHT_MAX,
                        "The key's share relative to other keys with work; 1 if not given."),
    [FLAG_RATE] = INT("rate", "N", 1, 1000000, "At most N per second."),
    [FLAG_FIRING] = SWITCH("firing", "Only rules that are firing."),
    [FLAG_METRIC] =
        TEXT("metric", "METRIC", "The metric that the rule watches; pawl alerts metrics lists them."),
    [FLAG_ABOVE] =
        INT("above", "N", INT64_MIN, INT64_MAX, "The rule holds while the value is greater than this."),
    [FLAG_BELOW] =
        INT("below", "N", INT64_MIN, INT64_MAX, "The rule holds while the value is less than this."),
    [FLAG_CLEAR_AT] =
        {INT_ROW("clear-at", "N", INT64_MIN, INT64_MAX,
                 "A firing rule resolves when the value is back at this; default: the threshold."),
         .input = "clear_threshold"},
    [FLAG_FOR] = DURATION("for", 0, PAWL_ALERT_SILENCE_MS_MAX,
                          "How long the rule must hold before it fires, or how long the silence lasts."),
    [FLAG_CLEAR] = DURATION("clear", 0, PAWL_ALERT_HOLD_MS_MAX,
                            "How long the rule must not hold before the alert is resolved."),
    [FLAG_SEVERITY] =
        CHOICE("severity", "SEVERITY", "warning|critical", "The severity: warning or critical."),
    [FLAG_TARGETS] =
        TEXT("targets", "NAME[,NAME]", "Where alerts go: log, message, or names from --alert-targets."),
    [FLAG_SUMMARY] = TEXT("summary", "TEXT", "A description for people."),
    [FLAG_MINUTES] = INT("minutes", "N", 1, 525600,
                         "Only workers whose last heartbeat is at most this old; 5 if not given."),
    [FLAG_STALE_MINUTES] = INT("stale-minutes", "N", 0, 525600,
                               "Only workers that have been silent for this long; 10 if not given."),
    [FLAG_MAX_LEASES] =
        INT("max-leases", "N", 0, 1000000, "Only workers that hold more leases than this; 5 if not given."),
    [FLAG_INTERVAL] = INT("interval", "SECONDS", 1, 86400, "Seconds between refreshes; 2 if not given."),
    [FLAG_FROM_START] =
        SWITCH("from-start", "For a new receptor: also existing events. Default: only new ones."),
    [FLAG_REPLACE] =
        SWITCH("replace", "Replace the patterns of an existing receptor, from its current position on."),
    [FLAG_LOOKS] = INT("looks", "N", 1, 1000000000, "Stop after N refreshes."),
    [FLAG_RATES] = DURATION("rates", 1, 3600000, "Measure messages per second over this time."),
};

enum flag_id flag_find(const char *name, size_t len) {
    int id = 0;
    while (id < FLAG_TOTAL &&
           !(strlen(flag_rows[id].name) == len && memcmp(flag_rows[id].name, name, len) == 0))
        id++;
    return (enum flag_id)id;
}

static pawl_status parse_number(const struct flag_row *row, struct flag_value *value, pawl_error *err) {
    if (row->type == FLAG_INT) {
        if (str_to_i64(value->text, row->min, row->max, &value->number))
            return PAWL_OK;
        return error_set(err, PAWL_INVALID, "flags",
                         "--%s is \"%.*s\", which is not a whole number from %" PRId64 " to %" PRId64,
                         row->name, STR_ARG(value->text), row->min, row->max);
    }
    char max[CLOCK_DURATION_BYTES];
    if (clock_parse_duration(value->text, &value->number) && value->number >= row->min &&
        value->number <= row->max)
        return PAWL_OK;
    return error_set(err, PAWL_INVALID, "flags",
                     "--%s is \"%.*s\", which is not a duration such as 90s, 36h or 30d, at most %s",
                     row->name, STR_ARG(value->text), clock_format_duration(row->max, max));
}

pawl_status flag_parse(enum flag_id id, const char *text, struct flag_value *value, pawl_error *err) {
    assert(id < FLAG_TOTAL);
    const struct flag_row *row = &flag_rows[id];
    struct flag_value read = {.set = true, .text = str_from(text), .number = 1};
    pawl_status status = PAWL_OK;
    switch (row->type) {
    case FLAG_TEXT:
        if (read.text.len == 0)
            status = error_set(err, PAWL_INVALID, "flags", "--%s is empty: give it a %s or leave it out",
                               row->name, row->value);
        break;
    case FLAG_INT:
    case FLAG_DURATION:
        status = parse_number(row, &read, err);
        break;
    case FLAG_UUID:
        if (!uuid_parse(read.text, &read.uuid))
            status = error_set(err, PAWL_INVALID, "flags",
                               "--%s is \"%.*s\", which is not a UUID: 32 hex digits as 8-4-4-4-12",
                               row->name, STR_ARG(read.text));
        break;
    case FLAG_CHOICE:
        read.number = str_choice(row->choices, read.text);
        if (read.number < 0)
            status = error_set(err, PAWL_INVALID, "flags", "--%s is \"%.*s\", which is not one of %s",
                               row->name, STR_ARG(read.text), row->choices);
        break;
    case FLAG_SWITCH:
        break;
    }
    if (status == PAWL_OK)
        *value = read;
    return status;
}
