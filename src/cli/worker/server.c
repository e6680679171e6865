/* pawl server: the HTTP interface and the dashboard. */
#include <stdio.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/database.h"
#include "server/server.h"

static const char *text_or_null(const struct cli *cli, enum option_id id) {
    pawl_str text = options_text(&cli->arguments.options, id);
    return text.len > 0 ? text.ptr : NULL;
}

/* The token is told once, when it is made, and to a person: what is not a terminal may be kept as a log. */
static void greet(const struct server *server) {
    bool told = server->tokens_made && isatty(STDERR_FILENO) != 0;
    const char *scheme = server->tls ? "https" : "http";
    const char *place = server->config.public_url != NULL ? server->config.public_url : NULL;
    fprintf(stderr, "pawl: tokens are in %s. The dashboard%s:\n", server->token_file,
            told ? ", this once with the operator's token" : "");
    if (place != NULL)
        fprintf(stderr, "%s/", place);
    else
        fprintf(stderr, "%s://%s/", scheme, server->address);
    if (told)
        fprintf(stderr, "#token=%s", server->tokens.operator);
    fprintf(stderr, "\n");
}

static pawl_status run(struct cli *cli, pawl_error *err) {
    struct server server;
    struct server_config config = {
        .store = database_config(cli),
        .listen = options_text(&cli->arguments.options, OPTION_LISTEN).ptr,
        .token_file = text_or_null(cli, OPTION_TOKEN_FILE),
        .tls_cert = text_or_null(cli, OPTION_TLS_CERT),
        .tls_key = text_or_null(cli, OPTION_TLS_KEY),
        .public_url = text_or_null(cli, OPTION_PUBLIC_URL),
        .redact = options_text(&cli->arguments.options, OPTION_REDACT),
        .tools = text_or_null(cli, OPTION_TOOLS),
        .tools_ms = options_number(&cli->arguments.options, OPTION_TOOLS_TIMEOUT),
        .alert_interval_ms = options_number(&cli->arguments.options, OPTION_ALERT_INTERVAL),
        .alert_targets = text_or_null(cli, OPTION_ALERT_TARGETS),
        .lease_api = options_bool(&cli->arguments.options, OPTION_LEASE_API),
        .log = {.level = (enum log_level)options_number(&cli->arguments.options, OPTION_LOG_LEVEL),
                .file = stderr},
    };
    /* The command's own handle was only to see that the database is there. */
    store_close(cli->store);
    cli->store = NULL;
    pawl_status status = server_open(&server, &config, err);
    if (status == PAWL_OK) {
        log_event(&server.config.log, LOG_LEVEL_INFO, "server_started", "listen=%s tls=%d lease_api=%d",
                  server.address, server.tls, config.lease_api);
        greet(&server);
        status = server_run(&server, err);
        log_event(&server.config.log, LOG_LEVEL_INFO, "server_stopped", "listen=%s", server.address);
    }
    server_close(&server);
    return status;
}

static const struct operation commands[] = {
    {OPERATION("server", "Serve the HTTP interface, the dashboard and the metrics"),
     .options = OPTION(LISTEN) | OPTION(TOKEN_FILE) | OPTION(TLS_CERT) | OPTION(TLS_KEY) |
                OPTION(PUBLIC_URL) | OPTION(REDACT) | OPTION(LEASE_API) | OPTION(TOOLS) |
                OPTION(TOOLS_TIMEOUT) | OPTION(LOG_LEVEL) | OPTION(DURABILITY) | OPTION(ALERT_INTERVAL) |
                OPTION(ALERT_TARGETS),
     .database = DATABASE_MAKE, .changes = CHANGES_WORK,
     .details = "Listens on this machine only, and wants a token even here. The first start makes the tokens "
                "(one for viewers, one for operators, one for workers) and prints the address of the "
                "dashboard, on a terminal with the operator's token, this once. Another address than a "
                "loopback one is refused without --tls-cert and --tls-key, or --public-url for a proxy that "
                "speaks TLS. It claims no work: on PostgreSQL a login that may only become pawl_server is "
                "enough (docs/api.md). SIGTERM, SIGINT and SIGHUP stop it.",
     .example = "pawl server\n"
                "pawl server --listen 127.0.0.1:0 --redact password,card_number",
     .terminal = run},
};

const struct operation_table server_commands = OPERATION_TABLE(commands);
