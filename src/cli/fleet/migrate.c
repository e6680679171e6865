/* pawl migrate: makes or upgrades the schema. */
#include "base/error.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/database.h"

static const struct column columns[] = {
    {COLUMN(TEXT, "database")},  {COLUMN(TEXT, "dialect")},       {COLUMN(TEXT, "schema")},
    {COLUMN(INT, "applied")},    {COLUMN(INT, "version")},        {COLUMN(INT, "partition_count")},
    {COLUMN(INT, "lane_count")}, {COLUMN(BOOL, "without_roles")},
};

static bool named(const struct options *options, enum option_id id) {
    return options->values[id].source != OPTION_FROM_DEFAULT;
}

/* A count the user named must be the schema's: it is fixed when the schema is made. */
static pawl_status check_counts(const struct cli *cli, const struct settings *settings, pawl_error *err) {
    const struct options *options = &cli->arguments.options;
    int64_t partitions = options_number(options, OPTION_PARTITIONS);
    int64_t lanes = options_number(options, OPTION_LANES);
    if (named(options, OPTION_PARTITIONS) && partitions != settings->partition_count)
        return error_set(err, PAWL_CONFLICT, "migrate",
                         "the schema has %d partitions, not %d: the count is fixed when a schema is made",
                         settings->partition_count, (int)partitions);
    if (named(options, OPTION_LANES) && lanes != settings->lane_count)
        return error_set(err, PAWL_CONFLICT, "migrate",
                         "the schema has %d lanes, not %d: the count is fixed when a schema is made",
                         settings->lane_count, (int)lanes);
    return PAWL_OK;
}

/* Counts that are not given are the store's choice, except that few partitions need few lanes. */
static struct migrate_config counts_of(const struct options *options) {
    struct migrate_config migrate = {0};
    if (named(options, OPTION_PARTITIONS))
        migrate.partition_count = (int)options_number(options, OPTION_PARTITIONS);
    if (named(options, OPTION_LANES))
        migrate.lane_count = (int)options_number(options, OPTION_LANES);
    else if (migrate.partition_count > 0 && migrate.partition_count < PAWL_LANES_DEFAULT)
        migrate.lane_count = migrate.partition_count;
    return migrate;
}

static pawl_status run(struct cli *cli, pawl_error *err) {
    struct store_config config = database_config(cli);
    struct migrate_config migrate = counts_of(&cli->arguments.options);
    struct migrate_result result;
    TRY(store_migrate(&config, &migrate, &result, err));
    TRY(store_open(&config, &cli->store, err));
    struct settings settings;
    TRY(cli->store->ops->core.settings_read(cli->store, &settings, err));
    TRY(check_counts(cli, &settings, err));
    const char *shown = database_shown(cli);
    if (!output_is_json(&cli->output)) {
        if (result.applied == 0)
            output_say(&cli->output, "nothing to do: %s is at version %d", shown, result.version);
        else
            output_say(&cli->output,
                       "applied %d migration%s: %s is now at version %d (%d partitions, %d lanes)",
                       result.applied, result.applied == 1 ? "" : "s", shown, result.version,
                       settings.partition_count, settings.lane_count);
        if (result.without_roles)
            output_say(&cli->output, "the roles pawl_producer, pawl_worker, pawl_view, pawl_operator and "
                                     "pawl_program were not made: this "
                                     "database user may not create roles, so only it can use the schema");
        return PAWL_OK;
    }
    struct cell cells[] = {cell_cstr(shown),
                           cell_cstr(cli->store->dialect),
                           cell_cstr(config.schema != NULL ? config.schema : "pawl"),
                           cell_int(result.applied),
                           cell_int(result.version),
                           cell_int(settings.partition_count),
                           cell_int(settings.lane_count),
                           cell_bool(result.without_roles)};
    return output_record(&cli->output, columns, sizeof columns / sizeof *columns, cells, err);
}

static const struct operation commands[] = {
    {OPERATION("migrate", "Create the schema, or upgrade it to this program's version"),
     .options = OPTION(PARTITIONS) | OPTION(LANES), .changes = CHANGES_WORK,
     .details = "Safe to run at any time, also concurrently. The numbers of partitions and lanes are fixed "
                "when the schema is created; other numbers are refused later.",
     .example = "pawl migrate\nDATABASE_URL=postgres://app@db/app pawl migrate --schema orders --lanes 128",
     .database = DATABASE_NONE, .terminal = run},
};

const struct operation_table migrate_commands = OPERATION_TABLE(commands);
