/* Reports of receptors and checkpoints on SQLite. */
#include "store/sqlite/claims/log.h"
#include "store/sqlite/events/events.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"
#include "domain/workstatus.h"
#include "store/sqlite/claims/report.h"

static pawl_status log_receptor(struct operation *op, const struct receptor_report *report,
                                enum store_answer *answer) {
    int64_t known = 0;
    bool found = false;
    struct statement s = statement_begin(op, SQLITE_Q_RECEPTOR_STATUS);
    bind_uuid(&s, report->event_id);
    bind_text(&s, report->receptor);
    pawl_status status = statement_number(&s, &known, &found);
    if (status != PAWL_OK)
        return status;
    *answer = found && (known & WORK_COMPLETED) != 0 ? ANSWER_DUPLICATE : ANSWER_APPLIED;
    if (*answer == ANSWER_DUPLICATE)
        return PAWL_OK;
    s = statement_begin(op, SQLITE_Q_RECEPTOR_PUT);
    bind_uuid(&s, report->event_id);
    bind_text(&s, report->receptor);
    bind_int(&s, str_absent(report->error) ? report->status : report->status | WORK_FAILED);
    bind_text(&s, utf8_cut(report->error, PAWL_ERROR_BYTES_MAX));
    bind_int(&s, op->now_ms);
    return statement_run(&s);
}

pawl_status log_receptors(struct operation *op, const struct receptor_report *reports,
                          struct answer_list *out) {
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < out->count && status == PAWL_OK; i++)
        status = log_receptor(op, &reports[i], &out->answers[i]);
    return status;
}

pawl_status log_checkpoints(struct operation *op, const struct checkpoints_report *in,
                            struct answer_list *out) {
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < out->count && status == PAWL_OK; i++)
        status = checkpoint_report(op, in->instance, &in->reports[i], &out->answers[i]);
    return status;
}

pawl_status sqlite_receptors_report(struct store *store, const struct receptor_report *reports, size_t count,
                                    struct arena *arena, struct answer_list *out, pawl_error *err) {
    struct operation op;
    struct answer_list list = {0};
    pawl_status status = check_receptors(reports, count, err);
    if (!operation_begin(&op, store, OPERATION_WRITE, "receptors_report", &status, err))
        return status;
    status = report_answers(&op, arena, count, false, &list);
    if (status == PAWL_OK)
        status = log_receptors(&op, reports, &list);
    return operation_give(&op, status, out, &list);
}

pawl_status sqlite_checkpoints_report(struct store *store, const struct checkpoints_report *in,
                                      struct arena *arena, struct answer_list *out, pawl_error *err) {
    struct operation op;
    struct answer_list list = {0};
    pawl_status status = check_checkpoints(in, err);
    if (!operation_begin(&op, store, OPERATION_WRITE, "checkpoints_report", &status, err))
        return status;
    status = report_answers(&op, arena, in->count, false, &list);
    if (status == PAWL_OK)
        status = log_checkpoints(&op, in, &list);
    return operation_give(&op, status, out, &list);
}

pawl_status sqlite_checkpoint_get(struct store *store, pawl_str stream, pawl_str perspective,
                                  struct arena *arena, struct checkpoint_row *out, pawl_error *err) {
    struct operation op;
    struct checkpoint_row row = {0};
    pawl_status status = PAWL_OK;
    if (!operation_begin(&op, store, OPERATION_READ, "checkpoint_get", &status, err))
        return status;
    struct statement s = statement_begin(&op, SQLITE_Q_CHECKPOINT_FIND);
    bind_text(&s, stream);
    bind_text(&s, perspective);
    bool found = statement_next(&s);
    if (found)
        row_read(&s, 0, &checkpoint_row_shape, arena, &row);
    status = statement_end(&s);
    if (status == PAWL_OK && !found)
        status = checkpoint_missing(stream, perspective, err);
    return operation_give(&op, status, out, &row);
}

pawl_status sqlite_receptors(struct store *store, pawl_uuid event_id, struct arena *arena,
                             struct receptor_row **rows, size_t *count, pawl_error *err) {
    struct operation op;
    pawl_status status = PAWL_OK;
    if (!operation_begin(&op, store, OPERATION_READ, "receptors", &status, err))
        return status;
    struct statement s = statement_begin(&op, SQLITE_Q_RECEPTOR_LIST);
    bind_uuid(&s, event_id);
    status = operation_list(&op, &s, &receptor_shape, arena, (struct rows_out){rows, count, NULL});
    for (size_t i = 0; status == PAWL_OK && i < *count; i++)
        (*rows)[i].event_id = event_id;
    return status;
}
