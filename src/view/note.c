/* Output columns of actions, pauses, settings and groups of dead letters. */
#include "view/note.h"

#include "view/names.h"
#include "view/output/row.h"

static const char *const scopes[] = {NULL, "topic", "stream", "handler", "queue", "message"};
static const char *const reasons[] = {NULL, "conflict", "malformed"};

#define ROW struct pause_row
const struct column pause_columns[PAUSE_COLUMNS] = {
    {.key = "scope", WORD_OF(scope, scopes)},
    {.key = "name", TEXT_OF(name)},
    {.key = "since", TIME_OF(since_ms)},
    {.key = "actor", TEXT_OF(actor)},
    {.key = "reason", TEXT_OF(reason), .cut = true},
};
#undef ROW

#define ROW struct audit_row
const struct column action_columns[ACTION_COLUMNS] = {
    {.key = "number", INT_OF(number)},
    {.key = "at", TIME_OF(at_ms)},
    {.key = "actor", TEXT_OF(actor)},
    {.key = "action", TEXT_OF(action)},
    {.key = "detail", TEXT_OF(detail), .cut = true},
};
#undef ROW

#define ROW struct refused_row
const struct column refused_columns[REFUSED_COLUMNS] = {
    {.key = "number", INT_OF(number)},
    {.key = "reason", WORD_OF(reason, reasons)},
    {.key = "consumer", TEXT_OF(consumer)},
    {.key = "topic", TEXT_OF(topic)},
    {.key = "message_id", TEXT_OF(message_id)},
    {.key = "received", TIME_OF(received_ms), .drop = 1},
    {.key = "detail", TEXT_OF(detail), .content = true, .cut = true},
    {.key = "payload", TEXT_OF(payload), .content = true, .show = SHOW_JSON},
};
#undef ROW

#define ROW struct dead_group
const struct column group_columns[GROUP_COLUMNS] = {
    {.key = "kind", WORD_OF(kind, kind_names)},
    {.key = "count", INT_OF(count)},
    {.key = "fingerprint", TEXT_OF(fingerprint)},
    {.key = "first", TIME_OF(first_ms), .drop = 1},
    {.key = "last", TIME_OF(last_ms), .drop = 2},
    {.key = "sample_error", TEXT_OF(sample_error), .content = true, .cut = true},
};
#undef ROW

#define ROW struct settings
const struct column setting_columns[SETTING_COLUMNS] = {
    {.key = "schema_version", INT_OF(schema_version)},
    {.key = "partition_count", INT_OF(partition_count)},
    {.key = "lane_count", INT_OF(lane_count)},
    {.key = "epoch", INT_OF(epoch)},
    {.key = "epoch_cause", WORD_OF(epoch_cause, epoch_causes)},
    {.key = "epoch_raised", TIME_OF(epoch_ms)},
    {.key = "instance_lease", DURATION_OF(instance_lease_ms)},
    {.key = "stale", DURATION_OF(stale_ms)},
    {.key = "dedupe", DURATION_OF(dedupe_ms)},
    {.key = "history", DURATION_OF(history_ms)},
    {.key = "max_attempts", INT_OF(max_attempts)},
    {.key = "dead_policy", WORD_OF(dead_policy, policy_names)},
};
#undef ROW
