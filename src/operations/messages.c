/* Turning the inputs of an operation into filters of messages and jobs. */
#include "operations/messages.h"

struct message_filter message_filter_from(const struct request *request) {
    return (struct message_filter){.kind = (enum store_kind)request_choice(request, "kind"),
                                   .state = request_choice(request, "state"),
                                   .stream = request_text(request, "stream"),
                                   .type = request_text(request, "type"),
                                   .topic = request_text(request, "topic"),
                                   .fingerprint = request_text(request, "fingerprint"),
                                   .lane = (int)request_number(request, "lane", -1),
                                   .after_seq = request_after_number(request)};
}

struct job_filter job_filter_from(const struct request *request) {
    return (struct job_filter){.state = request_choice(request, "state"),
                               .queue = request_text(request, "queue"),
                               .task = request_text(request, "task"),
                               .type = request_text(request, "type"),
                               .key = request_text(request, "key"),
                               .fingerprint = request_text(request, "fingerprint"),
                               .after_id = request_after_number(request)};
}

pawl_status messages_with_id(struct request *request, pawl_uuid id, int state, int kind,
                             struct message_rows *rows, pawl_error *err) {
    rows->count = 0;
    pawl_status status =
        request->store->ops->view.message_find(request->store, id, request->arena, rows, err);
    if (status != PAWL_OK)
        return status;
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++)
        if ((state == 0 || (int)rows->rows[i].state == state) &&
            (kind == 0 || (int)rows->rows[i].item.kind == kind))
            rows->rows[kept++] = rows->rows[i];
    rows->count = kept;
    return PAWL_OK;
}
