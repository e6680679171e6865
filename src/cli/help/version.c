/* pawl version: the program, what it is built on, and the database's schema. */
#include "base/options/url.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/database.h"
#include "cli/fault.h"

/* The schema's version; 0 and a reason in *err when the database cannot be asked. */
static int schema_version(struct cli *cli, pawl_error *err) {
    struct store_config config = database_config(cli);
    config.allow_version_mismatch = true;
    struct settings settings = {0};
    pawl_status status = store_open(&config, &cli->store, err);
    if (status == PAWL_OK)
        status = cli->store->ops->core.settings_read(cli->store, &settings, err);
    return status == PAWL_OK ? settings.schema_version : 0;
}

static pawl_status run(struct cli *cli, pawl_error *err) {
    static const struct column columns[] = {
        {COLUMN(TEXT, "program")},  {COLUMN(TEXT, "library")}, {COLUMN(INT, "schema_version")},
        {COLUMN(TEXT, "database")}, {COLUMN(TEXT, "dialect")}, {COLUMN(TEXT, "database_error")},
        {COLUMN(TEXT, "sqlite")},   {COLUMN(TEXT, "libpq")},
    };
    char libpq[STORE_VERSION_BYTES];
    pawl_error unreachable = {.text = ""};
    int version = schema_version(cli, &unreachable);
    AUTO_BUF(masked, 0);
    url_redact_text(&masked, unreachable.text);
    struct cell cells[] = {
        cell_cstr(PAWL_VERSION),
        cell_cstr(PAWL_VERSION),
        version > 0 ? cell_int(version) : cell_none(),
        cell_cstr(database_shown(cli)),
        cell_cstr(cli->store != NULL ? cli->store->dialect : NULL),
        version > 0 ? cell_none() : cell_text(buf_str(&masked)),
        cell_cstr(store_sqlite_version()),
        cell_cstr(store_libpq_version(libpq)),
    };
    return output_record(&cli->output, columns, sizeof columns / sizeof *columns, cells, err);
}

static const struct operation commands[] = {
    {OPERATION("version", "Show the versions of the program, its libraries and the schema"),
     .details = "The schema's version is shown when the database can be reached; when it cannot, that is no "
                "failure.",
     .database = DATABASE_NONE, .terminal = run},
};

const struct operation_table version_commands = OPERATION_TABLE(commands);
