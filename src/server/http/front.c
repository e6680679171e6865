/* HTTP as a front of operations: the fields of a route are inputs, answers are JSON. */
#include "server/http/call.h"

static struct value front_value(void *self, const char *name) { return *call_value(self, name); }

static int front_limit(void *self) { return call_limit(self); }

static pawl_str front_after(void *self) { return call_cursor(self); }

static void front_list(void *self, const struct column *columns, size_t count) {
    struct call *call = self;
    call->columns = columns;
    call->column_count = count;
    call_list(call);
}

static void front_row(void *self, const struct cell *cells) {
    struct call *call = self;
    call->rows++;
    call_cells(call, call->columns, call->column_count, cells);
}

static pawl_status front_list_end(void *self, const char *next, pawl_error *err) {
    return call_list_end(self, next, err);
}

static pawl_status front_record(void *self, const struct column *columns, size_t count,
                                const struct cell *cells, pawl_error *err) {
    (void)err;
    if (((struct call *)self)->route->shape != ANSWER_EMPTY) /* then the status says it all */
        call_cells(self, columns, count, cells);
    return PAWL_OK;
}

/* The answer says what is needed: there is no person to tell anything else. */
static void front_quiet(void *self, const char *text) { (void)self, (void)text; }
static void front_now(void *self, int64_t now_ms) { (void)self, (void)now_ms; }
static void front_verdict(void *self, pawl_status status) { (void)self, (void)status; }

static pawl_str front_actor(void *self) { return call_actor(self); }

/* Every action is noted with its route: call_audit. */
static pawl_status front_note(void *self, const char *action, const char *detail, pawl_error *err) {
    (void)self, (void)action, (void)detail, (void)err;
    return PAWL_OK;
}

static pawl_status front_confirm(void *self, const char *question, pawl_error *err) {
    (void)self, (void)question, (void)err;
    return PAWL_OK;
}

static pawl_status front_key(void *self, pawl_uuid *key, pawl_error *err) {
    return call_request(self, 0, key, err);
}

static const struct front front = {.dashes = "",
                                   .value = front_value,
                                   .limit = front_limit,
                                   .after = front_after,
                                   .list = front_list,
                                   .row = front_row,
                                   .list_end = front_list_end,
                                   .record = front_record,
                                   .say = front_quiet,
                                   .now = front_now,
                                   .hint = front_quiet,
                                   .verdict = front_verdict,
                                   .actor = front_actor,
                                   .note = front_note,
                                   .confirm = front_confirm,
                                   .key = front_key};

struct request http_request(struct call *call) {
    return (struct request){call->store, call->arena, &front, call};
}

pawl_status http_run(struct call *call, operation_run *run, pawl_error *err) {
    struct request request = http_request(call);
    return run(&request, err);
}
