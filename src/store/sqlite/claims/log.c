/* Reports of receptors and checkpoints on SQLite. */
#include "store/sqlite/events/events.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"
#include "domain/workstatus.h"
#include "store/sqlite/claims/report.h"
#include "store/sqlite/file/row.h"

static pawl_status log_receptor(struct operation *op, const struct receptor_report *report,
                                enum store_answer *answer) {
    int64_t known = 0;
    bool found = false;
    TRY(statement_number(SQL(op, SQLITE_Q_RECEPTOR_STATUS, report->event_id, report->receptor), &known,
                         &found));
    *answer = found && (known & WORK_COMPLETED) != 0 ? ANSWER_DUPLICATE : ANSWER_APPLIED;
    if (*answer == ANSWER_DUPLICATE)
        return PAWL_OK;
    return statement_run(SQL(op, SQLITE_Q_RECEPTOR_PUT, report->event_id, report->receptor,
                             str_absent(report->error) ? report->status : report->status | WORK_FAILED,
                             utf8_cut(report->error, PAWL_ERROR_BYTES_MAX), op->now_ms));
}

pawl_status log_receptors(struct operation *op, const struct receptor_report *reports, size_t count,
                          struct arena *arena, struct answer_list *out) {
    TRY(report_answers(op, arena, count, false, out));
    for (size_t i = 0; i < count; i++)
        TRY(log_receptor(op, &reports[i], &out->answers[i]));
    return PAWL_OK;
}

pawl_status log_checkpoints(struct operation *op, const struct checkpoints_report *in, struct arena *arena,
                            struct answer_list *out) {
    TRY(report_answers(op, arena, in->count, false, out));
    for (size_t i = 0; i < in->count; i++)
        TRY(checkpoint_report(op, in->instance, &in->reports[i], &out->answers[i]));
    return PAWL_OK;
}

pawl_status sqlite_receptors_report(struct store *store, const struct receptor_report *reports, size_t count,
                                    struct arena *arena, struct answer_list *out, pawl_error *err) {
    struct answer_list list = {0};
    struct operation op =
        operation_write(store, "receptors_report", check_receptors(reports, count, err), err);
    return operation_give(&op, log_receptors(&op, reports, count, arena, &list), out, &list);
}

pawl_status sqlite_checkpoints_report(struct store *store, const struct checkpoints_report *in,
                                      struct arena *arena, struct answer_list *out, pawl_error *err) {
    struct answer_list list = {0};
    struct operation op = operation_write(store, "checkpoints_report", check_checkpoints(in, err), err);
    return operation_give(&op, log_checkpoints(&op, in, arena, &list), out, &list);
}

pawl_status sqlite_checkpoint_get(struct store *store, pawl_str stream, pawl_str perspective,
                                  struct arena *arena, struct checkpoint_row *out, pawl_error *err) {
    struct checkpoint_row row = {0};
    struct operation op = operation_read(store, "checkpoint_get", PAWL_OK, err);
    if (op.status != PAWL_OK)
        return op.status;
    struct statement s = SQL(&op, SQLITE_Q_CHECKPOINT_FIND, stream, perspective);
    bool found = statement_next(&s);
    if (found)
        row_read(&s, 0, &checkpoint_row_shape, arena, &row);
    pawl_status status = statement_end(&s);
    if (status == PAWL_OK && !found)
        status = checkpoint_missing(stream, perspective, err);
    return operation_give(&op, status, out, &row);
}

pawl_status sqlite_receptors(struct store *store, pawl_uuid event_id, struct arena *arena,
                             struct receptor_row **rows, size_t *count, pawl_error *err) {
    struct operation op = operation_read(store, "receptors", PAWL_OK, err);
    pawl_status status = operation_list(&op, SQL(&op, SQLITE_Q_RECEPTOR_LIST, event_id), &receptor_shape,
                                        arena, ((struct rows_out){rows, count, NULL}));
    for (size_t i = 0; status == PAWL_OK && i < *count; i++)
        (*rows)[i].event_id = event_id;
    return status;
}
