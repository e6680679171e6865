/* Opening the database that the options name. */
#include "cli/database.h"

#include "base/error.h"
#include "base/options/url.h"
#include "base/str.h"

struct store_config database_config(const struct cli *cli) {
    const struct options *options = &cli->arguments.options;
    pawl_str durability = options_text(options, OPTION_DURABILITY);
    return (struct store_config){
        .url = options_text(options, OPTION_DATABASE_URL).ptr,
        .schema = options_text(options, OPTION_SCHEMA).ptr,
        .durability = str_equal_cstr(durability, "normal") ? DURABILITY_NORMAL : DURABILITY_FULL,
        .connect_timeout_ms = (int)options_number(options, OPTION_CONNECT_TIMEOUT),
        .statement_timeout_ms = (int)options_number(options, OPTION_STATEMENT_TIMEOUT),
    };
}

const char *database_shown(struct cli *cli) {
    AUTO_BUF(buf, 0);
    url_redact(&buf, options_text(&cli->arguments.options, OPTION_DATABASE_URL));
    const char *shown = buf.failed ? NULL : arena_strdup(cli->arena, buf.ptr);
    return shown;
}

/* Processes that find no database at once wait for each other here; one of them makes it and says so. */
static pawl_status make_file(const struct store_config *config, pawl_error *err) {
    struct migrate_config migrate = {0};
    struct migrate_result result;
    TRY(store_migrate(config, &migrate, &result, err));
    if (result.applied > 0)
        fprintf(stderr, "pawl: there was no database at %s: made it.\n", store_sqlite_path(config->url));
    return PAWL_OK;
}

pawl_status database_open(struct cli *cli, pawl_error *err) {
    const struct operation *command = cli->arguments.command;
    struct store_config config = database_config(cli);
    pawl_status status = store_open(&config, &cli->store, err);
    bool missing = status == PAWL_NOT_FOUND && store_sqlite_path(config.url) != NULL;
    if (missing && command->database == DATABASE_MAKE) {
        status = make_file(&config, err);
        if (status == PAWL_OK)
            status = store_open(&config, &cli->store, err);
    } else if (missing) {
        cli->hint = "Run pawl migrate, or name another one with --database-url.";
        return error_set(err, PAWL_NOT_FOUND, "database_open", "there is no database at %s",
                         store_sqlite_path(config.url));
    }
    if (status == PAWL_OK)
        status = cli->store->ops->core.clock_read(cli->store, &cli->output.now_ms, err);
    return status;
}
