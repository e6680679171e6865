/* Reading pipelines and parameters from files for commands. */
#include "cli/jobs/pipeline_input.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/input.h"
#include "cli/jobs/tool_registry.h"
#include "work/pipeline/job.h"

enum { ENV_NAMES_MAX = 64 };

pawl_status pipeline_input_params(struct cli *cli, pawl_str *params, pawl_error *err) {
    const struct flag_value *flag = cli_flag(cli, FLAG_PARAMS);
    if (!flag->set)
        return PAWL_OK;
    if (flag->text.len > 0 && flag->text.ptr[0] == '@')
        return input_read(cli->arena, flag->text.ptr + 1, PAWL_PAYLOAD_BYTES_MAX, params, err);
    *params = flag->text;
    return PAWL_OK;
}

static bool ends_with(const char *path, const char *end) {
    size_t len = strlen(path), end_len = strlen(end);
    return len >= end_len && strcmp(path + len - end_len, end) == 0;
}

static size_t env_names(struct cli *cli, const char **names) {
    pawl_str rest = options_text(&cli->arguments.options, OPTION_PIPELINE_ENV);
    size_t count = 0;
    while (rest.len > 0 && count < ENV_NAMES_MAX) {
        const char *comma = memchr(rest.ptr, ',', rest.len);
        size_t len = comma != NULL ? (size_t)(comma - rest.ptr) : rest.len;
        pawl_str word = str_trim((pawl_str){rest.ptr, len});
        names[count] = arena_copy(cli->arena, word.ptr, word.len);
        count += names[count] != NULL && word.len > 0;
        size_t used = comma != NULL ? len + 1 : len;
        rest = (pawl_str){rest.ptr + used, rest.len - used};
    }
    return count;
}

pawl_status pipeline_input_read(struct cli *cli, const char *path, bool params_needed,
                                struct pipeline_input *in, pawl_error *err) {
    const char *names[ENV_NAMES_MAX];
    pawl_str text = {NULL, 0}, params = {NULL, 0};
    struct tools *tools = NULL;
    pawl_error why = {0};
    bool yaml = ends_with(path, ".yaml") || ends_with(path, ".yml");
    pawl_status status = input_read(cli->arena, path, PAWL_PIPELINE_BYTES_MAX, &text, err);
    if (status == PAWL_OK)
        status = pipeline_parse(cli->arena, text, yaml ? PIPELINE_YAML : PIPELINE_JSON, &in->pipeline, &why);
    if (status == PAWL_INVALID)
        return error_set(err, status, "pipeline", "%s: %s", path, why.text);
    if (status == PAWL_OK)
        status = pipeline_input_params(cli, &params, err);
    if (status == PAWL_OK && str_absent(params) && params_needed)
        params = STR("{}");
    if (status == PAWL_OK && !str_absent(params))
        status = tree_parse(cli->arena, params, NULL, &in->params, err);
    if (status == PAWL_OK)
        status = tool_registry_open(cli, &tools, err);
    struct pipeline_check_in check = {.tools = tools,
                                      .pipeline = in->pipeline,
                                      .params = in->params,
                                      .env = names,
                                      .env_count = env_names(cli, names),
                                      .wait = tools_wait(tools, NULL)};
    if (status == PAWL_OK) {
        status = pipeline_job_check(&check, cli->arena, &in->scopes, &why);
        if (status != PAWL_OK)
            error_set(err, status, "pipeline", "%s: %s", path, why.text);
    }
    tools_free(tools);
    if (status == PAWL_OK)
        status = tree_text(cli->arena, in->pipeline->document, 0, &in->document, err);
    return status;
}
