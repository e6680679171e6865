/* Fuzzes requests of HTTP as they arrive: libmicrohttpd, the check of their framing, the routes and their
 * inputs. */
#include <microhttpd.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "operations/front/fields.h"
#include "server/http/call.h"
#include "server/http/framing.h"

enum { BYTES_MAX = 8192, ROUNDS_MAX = 200, BODY_BYTES = 8192 };

struct conversation {
    bool over;
    int accepted;
    char line[BYTES_MAX + 1]; /* what follows the method */
    char body[BODY_BYTES];
    size_t body_bytes;
};

/* Inputs that were accepted are what their fields say. */
static void check_values(const struct call *call) {
    const struct field *field;
    for (size_t i = 0; (field = operation_input(call->route, i)) != NULL; i++) {
        const struct value *value = &call->values[i];
        if (!value->present)
            continue;
        if (field->type == FIELD_TEXT)
            must(utf8_valid(value->text, false, NULL) &&
                 (field->max == 0 || value->text.len <= (size_t)field->max));
        if (field->type == FIELD_INT)
            must(value->number >= field->min && (field->max == 0 || value->number <= field->max));
    }
}

static void read_inputs(struct conversation *talk, const char *method) {
    struct arena *arena = arena_create(0);
    size_t len = strcspn(talk->line, "?");
    struct route_match match = route_find(method, (pawl_str){talk->line, len}, true);
    struct call call = {.arena = arena, .route = match.route};
    struct call_input input = {.parts = match.parts,
                               .part_count = match.part_count,
                               .query = talk->line[len] == '?' ? talk->line + len + 1 : "",
                               .body = {talk->body, talk->body_bytes}};
    pawl_error err = {0};
    if (match.route != NULL) {
        if (call_read(&call, &input, &err) == PAWL_OK)
            check_values(&call);
        else
            must(err.text[0] != '\0');
    }
    arena_free(arena);
}

static void *request_line(void *self, const char *uri, struct MHD_Connection *connection) {
    struct conversation *talk = self;
    (void)connection;
    must(strlen(uri) <= BYTES_MAX);
    memcpy(talk->line, uri, strlen(uri) + 1);
    talk->body_bytes = 0;
    return NULL;
}

/* NOLINTNEXTLINE(readability-function-size): libmicrohttpd decides how many parameters this has */
static enum MHD_Result handle(void *self, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_bytes, void **context) {
    struct conversation *talk = self;
    (void)url, (void)version;
    if (*context == NULL) {
        *context = talk;
        return framing_fault(connection) == NULL ? MHD_YES : MHD_NO;
    }
    if (*upload_bytes > 0) {
        size_t room = BODY_BYTES - talk->body_bytes, take = *upload_bytes < room ? *upload_bytes : room;
        memcpy(talk->body + talk->body_bytes, upload, take);
        talk->body_bytes += take;
        *upload_bytes = 0;
        return MHD_YES;
    }
    talk->accepted++;
    read_inputs(talk, method);
    struct MHD_Response *response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    enum MHD_Result queued = MHD_queue_response(connection, 200, response);
    MHD_destroy_response(response);
    return queued;
}

static void notify(void *self, struct MHD_Connection *connection, void **context,
                   enum MHD_ConnectionNotificationCode code) {
    (void)connection, (void)context;
    ((struct conversation *)self)->over = code == MHD_CONNECTION_NOTIFY_CLOSED;
}

/* How often a header begins a line of the first request's head, read without knowing HTTP. For libmicrohttpd
 * 0.9.75 a line that begins with a colon ends the head. */
static int lines_of(pawl_str text, const char *name) {
    int count = 0;
    size_t len = strlen(name);
    while (text.len > 0 && (text.ptr[0] == '\r' || text.ptr[0] == '\n'))
        text = str_skip(text, 1);
    for (pawl_str line; str_next(&text, '\n', &line) && str_trim(line).len > 0 && line.ptr[0] != ':';)
        count += line.len > len && strncasecmp(line.ptr, name, len) == 0 && line.ptr[len] == ':';
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int ends[2];
    static struct conversation talk;
    memset(&talk, 0, sizeof talk);
    if (size > BYTES_MAX)
        return 0;
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL, handle, &talk, MHD_OPTION_NOTIFY_CONNECTION, notify, &talk,
        MHD_OPTION_URI_LOG_CALLBACK, request_line, &talk, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)PAWL_HTTP_CONNECTION_BYTES, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    must(daemon != NULL && socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    must(write(ends[0], data, size) == (ssize_t)size && shutdown(ends[0], SHUT_WR) == 0);
    struct sockaddr local = {.sa_family = AF_UNIX};
    must(MHD_add_connection(daemon, ends[1], &local, sizeof local) == MHD_YES);
    for (int i = 0; i < ROUNDS_MAX && !talk.over; i++)
        must(MHD_run(daemon) == MHD_YES);
    if (talk.accepted > 0) {
        pawl_str text = {(const char *)data, size};
        int lengths = lines_of(text, "Content-Length"), codings = lines_of(text, "Transfer-Encoding");
        must(lengths + codings <= 1 && lines_of(text, "Host") <= 1);
    }
    MHD_stop_daemon(daemon);
    close(ends[0]);
    return 0;
}
