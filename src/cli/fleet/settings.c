/* pawl settings: show and change the settings of the schema. */
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/front.h"
#include "operations/operations.h"

/* A setting that may be changed; its range is that of the option with the same meaning. */
struct setting {
    const char *name;
    enum option_id option; /* OPTION_COUNT: the dead policy */
    size_t offset;         /* in struct settings_change */
};

static const struct setting settings_rows[] = {
    {"instance_lease", OPTION_INSTANCE_LEASE, offsetof(struct settings_change, instance_lease_ms)},
    {"stale", OPTION_STALE, offsetof(struct settings_change, stale_ms)},
    {"dedupe", OPTION_DEDUPE_WINDOW, offsetof(struct settings_change, dedupe_ms)},
    {"history", OPTION_HISTORY, offsetof(struct settings_change, history_ms)},
    {"max_attempts", OPTION_MAX_ATTEMPTS, offsetof(struct settings_change, max_attempts)},
    {"dead_policy", OPTION_COUNT, offsetof(struct settings_change, dead_policy)},
};

enum { SETTINGS = sizeof settings_rows / sizeof settings_rows[0] };

static pawl_status unknown_setting(pawl_str name, pawl_error *err) {
    const char *names[SETTINGS];
    char typed[64];
    for (size_t i = 0; i < SETTINGS; i++)
        names[i] = settings_rows[i].name;
    snprintf(typed, sizeof typed, "%.*s", STR_ARG(name));
    if (strcmp(typed, "partition_count") == 0 || strcmp(typed, "lane_count") == 0)
        return error_set(err, PAWL_INVALID, "settings", "%s is fixed when the schema is made", typed);
    const char *close = options_suggest(typed, names, SETTINGS);
    if (close != NULL)
        return error_set(err, PAWL_INVALID, "settings", "there is no setting \"%s\". Did you mean %s?", typed,
                         close);
    return error_set(err, PAWL_INVALID, "settings",
                     "there is no setting \"%s\". pawl help settings set lists them", typed);
}

static pawl_status set_duration(const struct setting *setting, pawl_str text, int64_t *value_ms,
                                pawl_error *err) {
    const struct option_row *row = &option_rows[setting->option];
    char min[CLOCK_DURATION_BYTES];
    char max[CLOCK_DURATION_BYTES];
    if (clock_parse_duration(text, value_ms) && *value_ms >= row->min && *value_ms <= row->max)
        return PAWL_OK;
    return error_set(err, PAWL_INVALID, "settings",
                     "%s is \"%.*s\": it needs a duration from %s to %s, such as %s", setting->name,
                     STR_ARG(text), clock_format_duration(row->min, min),
                     clock_format_duration(row->max, max), row->fallback);
}

static pawl_status set_one(const char *word, struct settings_change *change, pawl_error *err) {
    const char *equals = strchr(word, '=');
    if (equals == NULL)
        return error_set(err, PAWL_INVALID, "settings", "\"%s\" is not KEY=VALUE", word);
    pawl_str name = {word, (size_t)(equals - word)};
    pawl_str text = str_from(equals + 1);
    size_t i = 0;
    while (i < SETTINGS && !str_equal_cstr(name, settings_rows[i].name))
        i++;
    if (i == SETTINGS)
        return unknown_setting(name, err);
    const struct setting *setting = &settings_rows[i];
    char *target = (char *)change + setting->offset;
    if (setting->option == OPTION_COUNT) {
        int policy = str_choice("block|skip|park", text);
        if (policy < 0)
            return error_set(err, PAWL_INVALID, "settings",
                             "dead_policy is \"%.*s\": it is block, skip or park", STR_ARG(text));
        policy += POLICY_BLOCK;
        memcpy(target, &policy, sizeof policy);
        return PAWL_OK;
    }
    int64_t number = 0;
    if (setting->option == OPTION_MAX_ATTEMPTS) {
        if (!str_to_i64(text, 1, PAWL_ATTEMPTS_MAX, &number))
            return error_set(err, PAWL_INVALID, "settings",
                             "max_attempts is \"%.*s\": it is a number from 1 to %d", STR_ARG(text),
                             PAWL_ATTEMPTS_MAX);
        int attempts = (int)number;
        memcpy(target, &attempts, sizeof attempts);
        return PAWL_OK;
    }
    pawl_status status = set_duration(setting, text, &number, err);
    if (status == PAWL_OK)
        memcpy(target, &number, sizeof number);
    return status;
}

static pawl_status read_words(struct cli *cli, struct settings_change *change, pawl_error *err) {
    *change = (struct settings_change){-1, -1, -1, -1, -1, -1, -1};
    pawl_status status = PAWL_OK;
    for (int i = 0; i < cli->arguments.word_count && status == PAWL_OK; i++)
        status = set_one(cli->arguments.words[i], change, err);
    return status;
}

static pawl_status check_set(struct cli *cli, pawl_error *err) {
    struct settings_change change;
    return read_words(cli, &change, err);
}

/* Stale follows the instance lease: no row is removed while its instance may only be slow. */
static pawl_status derive(struct cli *cli, struct settings_change *change, pawl_error *err) {
    struct settings now;
    if (change->instance_lease_ms < 0 || change->stale_ms >= 0)
        return PAWL_OK;
    pawl_status status = cli->store->ops->core.settings_read(cli->store, &now, err);
    if (status == PAWL_OK && now.stale_ms < 2 * change->instance_lease_ms)
        change->stale_ms = 2 * change->instance_lease_ms;
    return status;
}

static pawl_status set(struct cli *cli, pawl_error *err) {
    struct settings_change change;
    pawl_status status = read_words(cli, &change, err);
    if (status == PAWL_OK)
        status = derive(cli, &change, err);
    if (status == PAWL_OK)
        status = cli->store->ops->core.settings_change(cli->store, &change, err);
    return status == PAWL_OK ? front_run(cli, op_settings_show, err) : status;
}

static const struct command commands[] = {
    {COMMAND("settings show", "Show the settings of the schema"), .alias = "settings",
     .operation = op_settings_show},
    {COMMAND("settings set", "Change the settings of the schema"), .arguments = "KEY=VALUE...",
     .arguments_max = SETTINGS, .check = check_set, .writes = true,
     .details =
         "The keys are instance_lease (an instance that is silent for longer loses its work), stale (when "
         "the row of a silent instance is removed), dedupe (how long an inbox remembers ids), history (how "
         "long completed messages are kept; 0 keeps none), max_attempts, and dead_policy: block (the stream "
         "stops), skip (it continues) or park (its later messages are parked with the dead letter).",
     .example = "pawl settings set max_attempts=10 history=30d", .run = set},
};

const struct command_table settings_commands = COMMAND_TABLE(commands);
