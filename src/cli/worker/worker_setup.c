/* Configuring a worker from the command line. */
#include "cli/worker/worker_setup.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/str.h"
#include "base/thread.h"
#include "cli/database.h"

static pawl_status read_kinds(struct cli *cli, pawl_worker_config *config, pawl_error *err) {
    struct value flag = cli_value(cli, "kinds");
    pawl_str rest = flag.text;
    while (flag.present && rest.len > 0) {
        const char *comma = memchr(rest.ptr, ',', rest.len);
        pawl_str word = {rest.ptr, comma != NULL ? (size_t)(comma - rest.ptr) : rest.len};
        size_t used = comma != NULL ? word.len + 1 : word.len;
        rest = (pawl_str){rest.ptr + used, rest.len - used};
        word = str_trim(word);
        if (str_equal_cstr(word, "outbox"))
            config->outbox = true;
        else if (str_equal_cstr(word, "inbox"))
            config->inbox = true;
        else if (str_equal_cstr(word, "jobs"))
            config->jobs = true;
        else if (str_equal_cstr(word, "perspectives"))
            config->perspectives = true;
        else
            return error_set(err, PAWL_INVALID, "worker",
                             "--kinds has \"%.*s\"; the kinds are outbox, inbox, jobs and perspectives",
                             STR_ARG(word));
    }
    return PAWL_OK;
}

static const char *text_or_null(const struct options *options, enum option_id id) {
    pawl_str text = options_text(options, id);
    return text.len > 0 ? text.ptr : NULL;
}

/* 0 when none was given and the heartbeat is longer than usual: the worker then makes it fit. */
static int64_t instance_lease_ms(const struct options *options) {
    bool follows = options->values[OPTION_INSTANCE_LEASE].source == OPTION_FROM_DEFAULT &&
                   options_number(options, OPTION_HEARTBEAT) > PAWL_HEARTBEAT_MS_DEFAULT;
    return follows ? 0 : options_number(options, OPTION_INSTANCE_LEASE);
}

pawl_status worker_setup_config(struct cli *cli, pawl_worker_config *config, pawl_error *err) {
    const struct options *options = &cli->arguments.options;
    struct store_config store = database_config(cli);
    *config = (pawl_worker_config){
        .store = {.url = store.url,
                  .schema = store.schema,
                  .connect_timeout_ms = store.connect_timeout_ms,
                  .statement_timeout_ms = store.statement_timeout_ms,
                  .durability_normal = store.durability == DURABILITY_NORMAL},
        .service = text_or_null(options, OPTION_SERVICE),
        .metadata = text_or_null(options, OPTION_METADATA),
        .instance = text_or_null(options, OPTION_WORKER_ID),
        .concurrency = (int)options_number(options, OPTION_CONCURRENCY),
        .weights = text_or_null(options, OPTION_WEIGHTS),
        /* A default batch may grow under load. */
        .batch = options->values[OPTION_BATCH].source == OPTION_FROM_DEFAULT
                     ? 0
                     : (int)options_number(options, OPTION_BATCH),
        .lease_ms = options_number(options, OPTION_LEASE),
        .instance_lease_ms = instance_lease_ms(options),
        .heartbeat_ms = options_number(options, OPTION_HEARTBEAT),
        .poll_ms = options_number(options, OPTION_POLL),
        .idle_polls = (int)options_number(options, OPTION_IDLE_POLLS),
        .max_attempts = (int)options_number(options, OPTION_MAX_ATTEMPTS),
        .max_partitions = (int)options_number(options, OPTION_MAX_PARTITIONS),
        .timeout_ms = options_number(options, OPTION_PROCESSING_TIMEOUT),
        .retry_base_ms = options_number(options, OPTION_RETRY_BASE),
        .retry_max_ms = options_number(options, OPTION_RETRY_MAX),
        .retry_exact = !options_bool(options, OPTION_RETRY_JITTER),
        .cleanup_ms = options_number(options, OPTION_CLEANUP_INTERVAL),
        .job_lease_ms = options_number(options, OPTION_JOB_LEASE),
        .queue = cli_value(cli, "queue").text.ptr,
        .tools = text_or_null(options, OPTION_TOOLS),
        .tools_timeout_ms = options_number(options, OPTION_TOOLS_TIMEOUT),
        .pipeline_env = text_or_null(options, OPTION_PIPELINE_ENV),
        .alert_interval_ms = options_number(options, OPTION_ALERT_INTERVAL),
        .alert_targets = text_or_null(options, OPTION_ALERT_TARGETS),
        .debug = options_bool(options, OPTION_DEBUG),
        .strategy = cli_value(cli, "instant").present ? PAWL_INSTANT : PAWL_BATCHED,
        .drain_ms = cli_value(cli, "drain_ms").number,
        .log_level = (int)options_number(options, OPTION_LOG_LEVEL),
        .own_process = true,
        .perspectives_outside = cli_value(cli, "perspectives_outside").present,
    };
    return read_kinds(cli, config, err);
}

bool worker_setup_has_work(struct cli *cli, const pawl_worker_config *config) {
    return config->perspectives || config->jobs || config->tools != NULL || cli_value(cli, "on").present ||
           cli_value(cli, "handlers").present || cli_value(cli, "transports").present;
}

pawl_status worker_setup(struct cli *cli, const pawl_worker_config *config, pawl_worker **worker,
                         pawl_error *err) {
    pawl_worker *made = NULL;
    pawl_status status = pawl_worker_create(config, &made, err);
    struct value on = cli_value(cli, "on"), file = cli_value(cli, "handlers"),
                 transports = cli_value(cli, "transports");
    for (size_t i = 0; status == PAWL_OK && on.present && i < on.tree->count; i++)
        status = pawl_worker_on_spec(made, on.tree->items[i]->text.ptr, err);
    if (status == PAWL_OK && file.present)
        status = pawl_worker_on_file(made, file.text.ptr, err);
    if (status == PAWL_OK && transports.present)
        status = pawl_worker_transports(made, transports.text.ptr, err);
    if (status != PAWL_OK) {
        pawl_worker_free(made);
        return status;
    }
    *worker = made;
    return PAWL_OK;
}

pawl_status worker_setup_run(struct cli *cli, pawl_worker *worker, pawl_error *err) {
    bool forced = false;
    sigset_t stop = thread_stop_signals();
    /* The worker handles these signals while it runs and then restores their state. They are blocked
     * beforehand, so that another one while the program is ending does not change its exit. */
    pthread_sigmask(SIG_BLOCK, &stop, NULL);
    pawl_status status = pawl_worker_run(worker, &forced, err);
    if (status == PAWL_OK && forced)
        cli->exit_code = WORKER_EXIT_FORCED;
    if (status == PAWL_CONFLICT &&
        cli->arguments.options.values[OPTION_WORKER_ID].source != OPTION_FROM_DEFAULT)
        cli->hint = "Leave --worker-id out, and each start draws one.";
    return status;
}
