/* Flags that belong to single commands: the table, and how a value is read. */
#include "cli/flags.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"

const struct flag_row flag_rows[FLAG_TOTAL] = {
    [FLAG_QUEUE] = {.name = "queue",
                    .type = FLAG_TEXT,
                    .value = "QUEUE",
                    .help = "The queue of the jobs; \"default\" without it."},
    [FLAG_JOB_STATE] = {.name = "job-state",
                        .type = FLAG_CHOICE,
                        .value = "STATE",
                        .choices = "ready|running|later|waiting|dead",
                        .help = "Only jobs in this state: ready, running, later, waiting or dead."},
    [FLAG_TASK] = {.name = "task", .type = FLAG_TEXT, .value = "TASK", .help = "The task."},
    [FLAG_KEY] = {.name = "key",
                  .type = FLAG_TEXT,
                  .value = "KEY",
                  .help = "The key whose limits (concurrency, rate, weight) hold for the job."},
    [FLAG_UNIQUE] = {.name = "unique",
                     .type = FLAG_TEXT,
                     .value = "KEY",
                     .help = "No second job with this key while the first is unfinished."},
    [FLAG_PRIORITY] = {.name = "priority",
                       .type = FLAG_INT,
                       .value = "N",
                       .min = -PAWL_JOB_PRIORITY_MAX,
                       .max = PAWL_JOB_PRIORITY_MAX,
                       .help = "Higher comes first; one step is worth a minute of waiting."},
    [FLAG_PIPELINE] = {.name = "pipeline",
                       .type = FLAG_TEXT,
                       .value = "FILE",
                       .help = "The pipeline: JSON, or YAML when the name ends in .yaml or .yml."},
    [FLAG_PARAMS] = {.name = "params",
                     .type = FLAG_TEXT,
                     .value = "JSON|@FILE",
                     .help = "The parameters of the pipeline or run, an object."},
    [FLAG_AGENT] = {.name = "agent",
                    .type = FLAG_TEXT,
                    .value = "AGENT",
                    .help = "Whose scopes decide which tools may be used."},
    [FLAG_CRON] = {.name = "cron",
                   .type = FLAG_TEXT,
                   .value = "EXPR",
                   .help = "When: five or six fields, or @daily and the like (docs/schedules.md)."},
    [FLAG_EVERY] = {.name = "every",
                    .type = FLAG_TEXT,
                    .value = "DURATION",
                    .help = "When: again and again."},
    [FLAG_AT] = {.name = "at",
                 .type = FLAG_TEXT,
                 .value = "TIME",
                 .help = "When: once, at a time such as 2026-01-02T03:04:05Z."},
    [FLAG_ZONE] = {.name = "zone",
                   .type = FLAG_TEXT,
                   .value = "ZONE",
                   .help = "The time zone of --cron, such as Europe/Berlin; UTC without it."},
    [FLAG_MISSED] = {.name = "missed",
                     .type = FLAG_CHOICE,
                     .value = "POLICY",
                     .choices = "skip|one|all",
                     .help =
                         "Instants that nobody was there for: skip them, fire the last one, or fire all."},
    [FLAG_OVERLAP] = {.name = "overlap",
                      .type = FLAG_CHOICE,
                      .value = "POLICY",
                      .choices = "allow|skip|queue",
                      .help = "While an earlier job of the schedule is unfinished: allow, skip or queue."},
    [FLAG_JITTER] = {.name = "jitter",
                     .type = FLAG_DURATION,
                     .value = "DURATION",
                     .min = 0,
                     .max = PAWL_SCHEDULE_JITTER_MS_MAX,
                     .help = "Jobs are due up to this much later, each by its own amount."},
    [FLAG_START] = {.name = "start", .type = FLAG_TEXT, .value = "TIME", .help = "Nothing before this time."},
    [FLAG_END] = {.name = "end",
                  .type = FLAG_TEXT,
                  .value = "TIME",
                  .help = "Nothing from this time on; of a job, its deadline."},
    [FLAG_PERSPECTIVES_OUTSIDE] = {.name = "perspectives-outside",
                                   .type = FLAG_SWITCH,
                                   .help = "Also run perspectives that are programs or endpoints: the "
                                           "database says which."},
    [FLAG_EXPECT] = {.name = "expect",
                     .type = FLAG_INT,
                     .value = "VERSION",
                     .min = 0,
                     .max = INT64_MAX,
                     .help = "The version that the stream must have; 0: it must not be there. Default: any."},
    [FLAG_PUBLISH] = {.name = "publish",
                      .type = FLAG_SWITCH,
                      .help = "Also put an outbox message of the same id, type and payload."},
    [FLAG_FROM] = {.name = "from",
                   .type = FLAG_INT,
                   .value = "N",
                   .min = 0,
                   .max = INT64_MAX,
                   .help = "The first version (of a stream) or position (of everything) to show."},
    [FLAG_BACKWARD] = {.name = "backward", .type = FLAG_SWITCH, .help = "The newest first."},
    [FLAG_AS_OF] = {.name = "as-of",
                    .type = FLAG_TEXT,
                    .value = "WHEN",
                    .help = "The stream as it was: the id of its last event, or milliseconds since 1970."},
    [FLAG_AT_VERSION] = {.name = "at-version",
                         .type = FLAG_INT,
                         .value = "VERSION",
                         .min = 1,
                         .max = INT64_MAX,
                         .help = "The version of --stream that must be applied."},
    [FLAG_POSITION] = {.name = "position",
                       .type = FLAG_INT,
                       .value = "POSITION",
                       .min = 1,
                       .max = INT64_MAX,
                       .help = "Everything up to this position must be applied."},
    [FLAG_DIGEST_OLD] = {.name = "digest-old",
                         .type = FLAG_TEXT,
                         .value = "SQL",
                         .help = "A query that makes one text of the old version's tables."},
    [FLAG_DIGEST_NEW] = {.name = "digest-new",
                         .type = FLAG_TEXT,
                         .value = "SQL",
                         .help = "The same of the new version's; the texts must be equal."},
    [FLAG_RUN_KEY] = {.name = "run-key",
                      .type = FLAG_TEXT,
                      .value = "KEY",
                      .help = "The key of the run: a second start with the same key starts nothing."},
    [FLAG_RUN_STATE] = {.name = "run-state",
                        .type = FLAG_CHOICE,
                        .value = "STATE",
                        .choices = "running|consolidating|nested|repair|completed|failed|cancelled",
                        .help = "Only runs in this state: running, consolidating, nested, repair, completed, "
                                "failed or cancelled."},
    [FLAG_PART_STATE] = {.name = "part-state",
                         .type = FLAG_CHOICE,
                         .value = "STATE",
                         .choices = "active|done|failed|cancelled",
                         .help = "Only partitions in this state: active, done, failed or cancelled."},
    [FLAG_OPEN] = {.name = "open", .type = FLAG_SWITCH, .help = "Only those that have not ended."},
    [FLAG_STUCK] = {.name = "stuck",
                    .type = FLAG_DURATION,
                    .value = "DURATION",
                    .min = 1,
                    .max = PAWL_HISTORY_MS_MAX,
                    .help = "Only partitions that are active and were not updated for so long."},
    [FLAG_WATCH] = {.name = "watch", .type = FLAG_SWITCH, .help = "Show it every second until it has ended."},
    [FLAG_OFFSET] = {.name = "offset",
                     .type = FLAG_INT,
                     .value = "N",
                     .min = 0,
                     .max = INT64_MAX,
                     .help = "Where the next page begins."},
    [FLAG_CURSOR] = {.name = "cursor",
                     .type = FLAG_TEXT,
                     .value = "JSON",
                     .help = "The cursor that the next page is fetched with."},
    [FLAG_TIMEOUT] = {.name = "timeout",
                      .type = FLAG_DURATION,
                      .value = "DURATION",
                      .min = 1,
                      .max = PAWL_PIPELINE_TIMEOUT_MS_MAX,
                      .help = "How long it may take."},
    [FLAG_KIND] = {.name = "kind",
                   .type = FLAG_CHOICE,
                   .value = "KIND",
                   .choices = "outbox|inbox|perspective",
                   .help = "The kind of work: outbox, inbox or perspective."},
    [FLAG_STATE] =
        {.name = "state",
         .type = FLAG_CHOICE,
         .value = "STATE",
         .choices = "ready|leased|scheduled|blocked|dead|done",
         .help = "Only messages in this state: ready, leased, scheduled, blocked, dead or done. Without it, "
                 "all but the done ones."},
    [FLAG_STREAM] = {.name = "stream",
                     .type = FLAG_TEXT,
                     .value = "STREAM",
                     .help = "The stream: messages of one stream are handled in order."},
    [FLAG_TYPE] = {.name = "type", .type = FLAG_TEXT, .value = "TYPE", .help = "Only what has this type."},
    [FLAG_TOPIC] = {.name = "topic",
                    .type = FLAG_TEXT,
                    .value = "TOPIC",
                    .help = "The topic: where an outbox message goes, where an inbox message came from."},
    [FLAG_FINGERPRINT] =
        {.name = "fingerprint",
         .type = FLAG_TEXT,
         .value = "FINGERPRINT",
         .help = "Only dead letters with this fingerprint of their error (see pawl dead groups)."},
    [FLAG_LIMIT] = {.name = "limit",
                    .type = FLAG_INT,
                    .value = "N",
                    .min = 1,
                    .max = 1000000000,
                    .help = "At most this many rows."},
    [FLAG_AFTER] =
        {.name = "after",
         .type = FLAG_INT,
         .value = "NUMBER",
         .min = 0,
         .max = INT64_MAX,
         .help = "Only what the list has behind this one: the seq, the id or the number of the last row seen "
                 "gives the next page."},
    [FLAG_ID] = {.name = "id",
                 .type = FLAG_UUID,
                 .value = "UUID",
                 .help = "The id of the message or event. Without it, a new UUIDv7 is drawn."},
    [FLAG_HEADER] = {.name = "header",
                     .type = FLAG_TEXT,
                     .value = "KEY=VALUE",
                     .repeat = true,
                     .help = "A header of the message; may be given more than once."},
    [FLAG_CONSUMER] = {.name = "consumer",
                       .type = FLAG_TEXT,
                       .value = "CONSUMER",
                       .help = "Who deduplicates: an inbox message is accepted once per consumer and id."},
    [FLAG_COUNT] = {.name = "count",
                    .type = FLAG_INT,
                    .value = "N",
                    .min = 1,
                    .max = 100000000,
                    .help = "So many of it, each with an id of its own."},
    [FLAG_REQUEST] =
        {.name = "request",
         .type = FLAG_UUID,
         .value = "UUID",
         .help = "An idempotency key: a second send with the same key within the hour writes nothing and "
                 "answers duplicate."},
    [FLAG_NDJSON] =
        {.name = "ndjson",
         .type = FLAG_TEXT,
         .value = "FILE",
         .help = "Many at once: one JSON object per line with type, payload, stream, topic, id, headers, "
                 "correlation_id, causation_id and traceparent; - is standard input. TYPE, --stream and "
                 "--topic are used for lines that do not have their own."},
    [FLAG_CORRELATION] = {.name = "correlation-id",
                          .type = FLAG_UUID,
                          .value = "UUID",
                          .help = "The id that all messages of one conversation share."},
    [FLAG_CAUSATION] = {.name = "causation-id",
                        .type = FLAG_UUID,
                        .value = "UUID",
                        .help = "The id of the message that caused this one."},
    [FLAG_TRACEPARENT] = {.name = "traceparent",
                          .type = FLAG_TEXT,
                          .value = "TEXT",
                          .help = "The W3C trace context to carry along."},
    [FLAG_ALL] = {.name = "all",
                  .type = FLAG_SWITCH,
                  .help = "Everything, where otherwise ids or filters are needed."},
    [FLAG_YES] = {.name = "yes", .type = FLAG_SWITCH, .help = "Do it without asking."},
    [FLAG_DRY_RUN] = {.name = "dry-run",
                      .type = FLAG_SWITCH,
                      .help = "Show what would be done and change nothing."},
    [FLAG_BEFORE] = {.name = "before",
                     .type = FLAG_DURATION,
                     .value = "DURATION",
                     .min = 0,
                     .max = PAWL_HISTORY_MS_MAX,
                     .help = "Only what ended longer ago than this, such as 36h or 30d."},
    [FLAG_TO] = {.name = "to",
                 .type = FLAG_TEXT,
                 .value = "FILE",
                 .help = "The file to append to, as JSON lines; it is made when it does not exist."},
    [FLAG_ON] = {.name = "on",
                 .type = FLAG_TEXT,
                 .value = "PATTERN=exec:COMMAND",
                 .repeat = true,
                 .help =
                     "Hand messages whose type matches the pattern (* and ?, any letter case) to a program; "
                     "may be given more than once, the first match wins."},
    [FLAG_HANDLERS] = {.name = "handlers",
                       .type = FLAG_TEXT,
                       .value = "FILE",
                       .help = "Read handlers from this file."},
    [FLAG_TRANSPORTS] = {.name = "transports",
                         .type = FLAG_TEXT,
                         .value = "FILE",
                         .help =
                             "Brokers: what is published where and read from where; see docs/transports.md."},
    [FLAG_KINDS] = {.name = "kinds",
                    .type = FLAG_TEXT,
                    .value = "KIND[,KIND]",
                    .help =
                        "What to work on: outbox, inbox, jobs, perspectives; all but perspectives without "
                        "it."},
    [FLAG_DRAIN] = {.name = "drain",
                    .type = FLAG_DURATION,
                    .value = "DURATION",
                    .min = 1,
                    .max = PAWL_LEASE_MS_MAX,
                    .help = "How long a stop waits for what runs. Default: 25s."},
    [FLAG_INSTANT] = {.name = "instant",
                      .type = FLAG_SWITCH,
                      .help = "Report every result at once instead of with the next batch."},
    [FLAG_WAIT] = {.name = "wait",
                   .type = FLAG_SWITCH,
                   .help = "Wait for a database that is not there yet, instead of giving up."},
    [FLAG_UNTIL_IDLE] =
        {.name = "until-idle",
         .type = FLAG_SWITCH,
         .help = "Stop when nothing that is due is left, here or with another worker; what waits for "
                 "another attempt stays, and is told."},
    [FLAG_HEAD] =
        {.name = "head",
         .type = FLAG_TEXT,
         .value = "HASH",
         .help = "An anchor that must still be there, as pawl audit head, the log or /metrics showed it."},
    [FLAG_REASON] = {.name = "reason",
                     .type = FLAG_TEXT,
                     .value = "TEXT",
                     .help = "Why, for those who come later."},
    [FLAG_AT_ONCE] = {.name = "at-once",
                      .type = FLAG_INT,
                      .value = "N",
                      .max = PAWL_JOB_RATE_MAX,
                      .help = "At most so many jobs of the key run at the same time; 0: no limit."},
    [FLAG_STARTS] = {.name = "starts",
                     .type = FLAG_INT,
                     .value = "N",
                     .max = PAWL_JOB_RATE_MAX,
                     .help = "At most so many jobs of the key start within --per; 0: no limit."},
    [FLAG_PER] = {.name = "per",
                  .type = FLAG_DURATION,
                  .value = "DURATION",
                  .min = 1,
                  .max = PAWL_LEASE_MS_MAX,
                  .help = "The time that --starts counts in; 1s if not given."},
    [FLAG_WEIGHT] = {.name = "weight",
                     .type = FLAG_INT,
                     .value = "N",
                     .min = 1,
                     .max = PAWL_JOB_WEIGHT_MAX,
                     .help = "The key's share against other keys that have work; 1 if not given."},
    [FLAG_RATE] = {.name = "rate",
                   .type = FLAG_INT,
                   .value = "N",
                   .min = 1,
                   .max = 1000000,
                   .help = "At most so many per second."},
    [FLAG_FIRING] = {.name = "firing", .type = FLAG_SWITCH, .help = "Only rules that fire."},
    [FLAG_METRIC] = {.name = "metric",
                     .type = FLAG_TEXT,
                     .value = "METRIC",
                     .help = "What the rule looks at; pawl alerts metrics lists them."},
    [FLAG_ABOVE] = {.name = "above",
                    .type = FLAG_INT,
                    .value = "N",
                    .min = INT64_MIN,
                    .max = INT64_MAX,
                    .help = "The rule holds while the value is greater than this."},
    [FLAG_BELOW] = {.name = "below",
                    .type = FLAG_INT,
                    .value = "N",
                    .min = INT64_MIN,
                    .max = INT64_MAX,
                    .help = "The rule holds while the value is less than this."},
    [FLAG_CLEAR_AT] = {.name = "clear-at",
                       .type = FLAG_INT,
                       .value = "N",
                       .min = INT64_MIN,
                       .max = INT64_MAX,
                       .help = "A rule that fires holds until the value is back at this; without it, at the "
                               "threshold."},
    [FLAG_FOR] = {.name = "for",
                  .type = FLAG_DURATION,
                  .value = "DURATION",
                  .min = 0,
                  .max = PAWL_ALERT_SILENCE_MS_MAX,
                  .help = "For how long: the rule must hold before it fires, or the silence lasts."},
    [FLAG_CLEAR] = {.name = "clear",
                    .type = FLAG_DURATION,
                    .value = "DURATION",
                    .min = 0,
                    .max = PAWL_ALERT_HOLD_MS_MAX,
                    .help = "How long the rule must not hold before it is over."},
    [FLAG_SEVERITY] = {.name = "severity",
                       .type = FLAG_CHOICE,
                       .value = "SEVERITY",
                       .choices = "warning|critical",
                       .help = "How bad it is: warning or critical."},
    [FLAG_TARGETS] = {.name = "targets",
                      .type = FLAG_TEXT,
                      .value = "NAME[,NAME]",
                      .help = "Who is told: log, message, and names of --alert-targets."},
    [FLAG_SUMMARY] = {.name = "summary",
                      .type = FLAG_TEXT,
                      .value = "TEXT",
                      .help = "A sentence for people."},
    [FLAG_MINUTES] = {.name = "minutes",
                      .type = FLAG_INT,
                      .value = "N",
                      .min = 1,
                      .max = 525600,
                      .help = "Only those whose last heartbeat is at most so old; 5 without it."},
    [FLAG_STALE_MINUTES] = {.name = "stale-minutes",
                            .type = FLAG_INT,
                            .value = "N",
                            .min = 0,
                            .max = 525600,
                            .help = "Only workers that have been silent for so long; 10 without it."},
    [FLAG_MAX_LEASES] = {.name = "max-leases",
                         .type = FLAG_INT,
                         .value = "N",
                         .min = 0,
                         .max = 1000000,
                         .help = "Only workers that hold more leases than this; 5 without it."},
    [FLAG_INTERVAL] = {.name = "interval",
                       .type = FLAG_INT,
                       .value = "SECONDS",
                       .min = 1,
                       .max = 86400,
                       .help = "How often to look; 2 without it."},
    [FLAG_FROM_START] =
        {.name = "from-start",
         .type = FLAG_SWITCH,
         .help = "When it is new: also the events that are there. Without it, those from now on."},
    [FLAG_REPLACE] = {.name = "replace",
                      .type = FLAG_SWITCH,
                      .help = "When it is there with other patterns: give it these, from its position on."},
    [FLAG_LOOKS] = {.name = "looks",
                    .type = FLAG_INT,
                    .value = "N",
                    .min = 1,
                    .max = 1000000000,
                    .help = "End after so many looks."},
    [FLAG_RATES] = {.name = "rates",
                    .type = FLAG_DURATION,
                    .value = "DURATION",
                    .min = 1,
                    .max = 3600000,
                    .help = "Measure messages per second over this time."},
};

enum flag_id flag_find(const char *name, size_t len) {
    int id = 0;
    while (id < FLAG_TOTAL &&
           !(strlen(flag_rows[id].name) == len && memcmp(flag_rows[id].name, name, len) == 0))
        id++;
    return (enum flag_id)id;
}

int choice_find(const char *choices, pawl_str text) {
    const char *at = choices;
    for (int index = 0;; index++) {
        const char *end = strchrnul(at, '|');
        if (str_equal((pawl_str){at, (size_t)(end - at)}, text))
            return index;
        if (*end == '\0')
            return -1;
        at = end + 1;
    }
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
        read.number = choice_find(row->choices, read.text);
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
