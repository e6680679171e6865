/* Operations on agents and on the audit of executions. */
#include "base/error.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/str.h"
#include "domain/authority/scope.h"
#include "operations/tables.h"
#include "view/work.h"

/* ---- Agents */

static pawl_status agent_list(struct request *request, pawl_error *err) {
    struct agent_list found = {.count = 0};
    TRY(request->store->ops->jobs->agents(request->store, request->arena, &found, err));
    return request_rows(request, ROWS_OF(agent, found.agents, found.count), NULL, err);
}

static pawl_status agent_refusals(struct request *request, pawl_error *err) {
    struct refusal_list found = {.count = 0};
    TRY(request->store->ops->jobs->refusals(request->store, request_limit(request), request->arena, &found,
                                            err));
    REQUEST_CELLS(request, refusal, found.refusals, found.count);
    return request_list_end(request, NULL, err);
}

static pawl_status agent_find(struct request *request, pawl_str name, pawl_error *err) {
    struct agent_list found = {.count = 0};
    TRY(request->store->ops->jobs->agents(request->store, request->arena, &found, err));
    for (size_t i = 0; i < found.count; i++)
        if (str_equal(found.agents[i].name, name))
            return PAWL_OK;
    return request_not_found("agent", "agent", name, err);
}

static pawl_status agent_write(struct request *request, bool disabled, pawl_error *err) {
    struct agent agent = {.name = request_text(request, "name"), .disabled = disabled};
    const struct tree *scopes = request_value(request, "scopes").tree;
    pawl_status status = request_json(request, "scopes", &agent.scopes, err);
    for (size_t i = 0; scopes != NULL && status == PAWL_OK && i < scopes->count; i++)
        status = scope_check_name(scopes->items[i]->text, true, err);
    if (scopes == NULL)
        agent.scopes = STR("[]");
    if (status == PAWL_OK)
        status = request->store->ops->jobs->agent_put(request->store, &agent, err);
    if (status == PAWL_OK)
        status = request->store->ops->core.clock_read(request->store, &agent.updated_ms, err);
    return status == PAWL_OK ? request_shown(request, agent_columns, AGENT_COLUMNS, &agent, err) : status;
}

static pawl_status agent_set(struct request *request, pawl_error *err) {
    return agent_write(request, request_bool(request, "disabled"), err);
}

static pawl_status agent_disable(struct request *request, pawl_error *err) {
    TRY(agent_find(request, request_text(request, "name"), err));
    return agent_write(request, true, err);
}

/* ---- Executions */

static pawl_status execution_list(struct request *request, pawl_error *err) {
    struct run_filter filter = {.task = request_text(request, "task"),
                                .job_id = request_number(request, "job_id", 0),
                                .outcome = request_choice(request, "outcome"),
                                .since_ms = request_number(request, "since_ms", 0),
                                .before_id = request_after_number(request),
                                .limit = request_limit(request)};
    struct task_run_list found = {.count = 0};
    TRY(request->store->ops->jobs->runs(request->store, &filter, request->arena, &found, err));
    REQUEST_CELLS(request, execution, found.runs, found.count);
    return request_list_end_number(request, found.next_id, err);
}

static pawl_status execution_verify(struct request *request, pawl_error *err) {
    struct audit_report report = {0};
    struct cell cells[REPORT_COLUMNS];
    pawl_str expect = request_text(request, "head");
    TRY(request->store->ops->jobs->audit_verify(request->store, expect, request->arena, &report, err));
    if (!report.sound)
        request_exit_with(request, error_exit_code(PAWL_CONFLICT));
    report_cells(&report, expect, cells);
    return request_record(request, report_columns, REPORT_COLUMNS, cells, err);
}

static const struct column head_columns[] = {
    {COLUMN(INT, "number")}, {COLUMN(TIME, "made_at")}, {COLUMN(TEXT, "hash")}};

static pawl_status show_head(struct request *request, const struct audit_head *last, pawl_error *err) {
    return REQUEST_RECORD(request, head_columns, err, cell_int(last->number), cell_time(last->made_ms),
                          cell_text(str_from(last->number > 0 ? last->hash : NULL)));
}

static pawl_status execution_head(struct request *request, pawl_error *err) {
    struct audit_head last = {0};
    TRY(request->store->ops->jobs->audit_head(request->store, &last, err));
    return show_head(request, &last, err);
}

static pawl_status execution_anchor(struct request *request, pawl_error *err) {
    struct audit_head last = {0};
    TRY(request->store->ops->jobs->audit_anchor(request->store, 0, &last, err));
    if (last.number == 0)
        return error_set(err, PAWL_NOT_FOUND, "audit",
                         "nothing was executed that is audited, so there is no head");
    return show_head(request, &last, err);
}

/* ---- The tables */

static const struct field name_fields[] = {FIELD_ROW_NAME("The agent.")};
static const struct field agent_fields[] = {
    FIELD_ROW_NAME("The agent."),
    {FIELD(FIELD_TEXTS, IN_BODY, "scopes", "The scopes it has; may end in *."), .max = 256, .word = true},
    {BOOL_FIELD(IN_BODY, "disabled", "Remove all scopes.")}};
static const struct field verify_fields[] = {
    {TEXT_FIELD(
         IN_QUERY, "head", SHA256_TEXT_BYTES - 1,
         "The hash of an anchor that must still exist: pawl audit anchor, the log and /metrics show it."),
     .value = "HASH"}};
static const struct field execution_fields[] = {
    {TEXT_FIELD(IN_QUERY, "task", PAWL_NAME_BYTES_MAX, "Only of this task.")},
    {INT_FIELD(IN_QUERY, "job_id", 1, 0, "Only of this job.")},
    {CHOICE_FIELD(IN_QUERY, "outcome", "succeeded|failed|dead|cancelled|lost", "Only with this outcome.")},
    {TIME_FIELD(IN_QUERY, "since_ms", "Only those that finished at or after this time.")}};

static const struct operation agents[] = {
    {OPERATION("agent.list", "List agents with their scopes"), READS("/v1/agents"), COLUMNS(agent_columns),
     .run = agent_list, .empty = "no agents"},
    {OPERATION("agent.set", "Create an agent, or change its scopes"), PUTS("/v1/agents/{name}"),
     FIELDS(agent_fields), RECORD(agent_columns), .run = agent_set, .database = DATABASE_MAKE,
     .details = "A scope may end in *: tool:files.* covers every tool of the server files that names no "
                "scopes of its own. Besides tools, job:TYPE lets its jobs enqueue jobs of that type, and "
                "statement:NAME lets its runs use that statement.",
     .example = "pawl agent set reporter 'tool:files.*' mail"},
    {OPERATION("agent.disable", "Disable an agent: its tasks are refused"),
     POSTS("/v1/agents/{name}/disable"), FIELDS(name_fields), RECORD(agent_columns), .run = agent_disable},
    {OPERATION("agent.refusals", "Show what was refused because a scope was missing"),
     READS("/v1/agents/refusals"), .paged = PAGED_LIMIT, COLUMNS(refusal_columns), .run = agent_refusals,
     .empty = "nothing was refused"},
};

static const struct operation audit[] = {
    {OPERATION("audit.list", "List executions of jobs, newest first"), READS("/v1/audit"),
     FIELDS(execution_fields), .paged = PAGED, COLUMNS(execution_columns), .run = execution_list,
     .empty = "nothing was executed"},
    {OPERATION("audit.verify", "Recompute the hashes of the audit and report changed or removed rows"),
     EXAMINES(METHOD_GET, "/v1/audit/verify"), FIELDS(verify_fields), RECORD(report_columns),
     .run = execution_verify,
     .details =
         "The exit code is 73 when something does not match. Rows removed by retention are counted; a "
         "row that is gone before its time is a fault. Someone who can write everything in the "
         "database could also recompute every hash: --head, with a hash that was shown earlier, detects "
         "that as well."},
    {OPERATION("audit.head",
               "Show the last anchor of the audit: one hash over everything executed until then"),
     READS("/v1/audit/head"), RECORD(head_columns), .run = execution_head},
    {OPERATION("audit.anchor",
               "Anchor the audit: one hash over everything executed so far, to be kept elsewhere"),
     POSTS("/v1/audit/anchor"), RECORD(head_columns), .run = execution_anchor,
     .details = "Workers do the same with their housekeeping and when they stop, and log the hash. Give it "
                "to pawl audit verify --head later."},
};

const struct operation_table agent_operations = OPERATION_TABLE(agents);
const struct operation_table audit_operations = OPERATION_TABLE(audit);
