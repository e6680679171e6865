/* The HTTP client: one request at a time, on libcurl. */
#include "http/http.h"

#include <ctype.h>
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"

struct http_client {
    CURL *easy;
    CURLM *multi;
    bool sent; /* part of the last request was sent */
};

/* One call while it runs. */
struct http_transfer {
    const struct http_request *request;
    struct http_client *client;
    struct arena *arena;
    struct http_response *response;
    struct buf body;
    size_t header_bytes;
    bool refused; /* the address */
    bool too_large;
    bool enough; /* on_piece returned false */
    bool no_memory;
    char reason[CURL_ERROR_SIZE];
};

pawl_status http_client_create(struct http_client **client, pawl_error *err) {
    struct http_client *made = calloc(1, sizeof(*made));
    bool global = made != NULL && curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    if (global) {
        made->easy = curl_easy_init();
        made->multi = curl_multi_init();
    }
    if (!global || made->easy == NULL || made->multi == NULL) {
        if (global)
            http_client_free(made);
        else
            free(made);
        return error_no_memory(err, "http");
    }
    curl_multi_setopt(made->multi, CURLMOPT_MAXCONNECTS, 8L);
    *client = made;
    return PAWL_OK;
}

void http_client_free(struct http_client *client) {
    if (client == NULL)
        return;
    curl_easy_cleanup(client->easy);
    curl_multi_cleanup(client->multi);
    curl_global_cleanup();
    free(client);
}

pawl_status http_check_url(const char *url, pawl_error *err) {
    if (strlen(url) > HTTP_URL_BYTES_MAX)
        return error_set(err, PAWL_INVALID, "http", "the address is longer than %d bytes",
                         HTTP_URL_BYTES_MAX);
    CURLU *parsed = curl_url();
    char *scheme = NULL, *user = NULL;
    CURLUcode code = parsed == NULL ? CURLUE_OUT_OF_MEMORY : curl_url_set(parsed, CURLUPART_URL, url, 0);
    pawl_status status = PAWL_OK;
    if (code == CURLUE_OUT_OF_MEMORY)
        status = error_no_memory(err, "http");
    else if (code != CURLUE_OK)
        status =
            error_set(err, PAWL_INVALID, "http", "'%s' is not an address: %s", url, curl_url_strerror(code));
    else if (curl_url_get(parsed, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK ||
             (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0))
        status = error_set(err, PAWL_INVALID, "http", "'%s' is not called: only http: and https: are", url);
    else if (curl_url_get(parsed, CURLUPART_USER, &user, 0) == CURLUE_OK)
        status = error_set(err, PAWL_INVALID, "http",
                           "an address must not contain a user or a password; send a header instead");
    curl_free(scheme);
    curl_free(user);
    curl_url_cleanup(parsed);
    return status;
}

/* Called right before connecting, the only moment at which the address is certain. */
static curl_socket_t open_socket(void *self, curlsocktype purpose, struct curl_sockaddr *address) {
    struct http_transfer *transfer = self;
    (void)purpose;
    if (!transfer->request->allow_private && http_address_is_private(&address->addr)) {
        transfer->refused = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static size_t take_body(char *bytes, size_t size, size_t count, void *self) {
    struct http_transfer *transfer = self;
    size_t len = size * count;
    const struct http_request *request = transfer->request;
    size_t most = request->body_bytes_max != 0 ? request->body_bytes_max : HTTP_BODY_BYTES_MAX;
    long status = 0;
    if (request->on_piece != NULL) {
        curl_easy_getinfo(transfer->client->easy, CURLINFO_RESPONSE_CODE, &status);
        transfer->enough = !request->on_piece(request->self, (int)status, transfer->response->content_type,
                                              (pawl_str){bytes, len});
        return transfer->enough ? 0 : len;
    }
    if (len > most - transfer->body.len) {
        transfer->too_large = true;
        return 0;
    }
    buf_append(&transfer->body, bytes, len);
    transfer->no_memory = transfer->body.failed;
    return transfer->no_memory ? 0 : len;
}

/* The lower-case media type without its parameters. */
static pawl_str media_type(struct arena *arena, pawl_str value) {
    pawl_str type = str_trim(str_before(value, ';', NULL));
    char *copy = arena_copy(arena, type.ptr, type.len);
    for (size_t i = 0; copy != NULL && i < type.len; i++)
        copy[i] = (char)tolower((unsigned char)copy[i]);
    return (pawl_str){copy, copy != NULL ? type.len : 0};
}

static size_t take_header(char *bytes, size_t size, size_t count, void *self) {
    struct http_transfer *transfer = self;
    size_t len = size * count;
    struct http_response *response = transfer->response;
    transfer->header_bytes += len;
    if (transfer->header_bytes > HTTP_HEADER_BYTES_MAX) {
        transfer->too_large = true;
        return 0;
    }
    if (len >= 5 && memcmp(bytes, "HTTP/", 5) == 0) { /* 100 Continue preceded the real response */
        response->header_count = 0;
        response->content_type = (pawl_str){NULL, 0};
        return len;
    }
    const char *colon = memchr(bytes, ':', len);
    if (colon == NULL || response->header_count == HTTP_HEADERS_MAX)
        return len;
    size_t name_len = (size_t)(colon - bytes);
    char *name = arena_copy(transfer->arena, bytes, name_len);
    pawl_str value = str_trim((pawl_str){colon + 1, len - name_len - 1});
    char *copy = arena_copy(transfer->arena, value.ptr, value.len);
    if (name == NULL || copy == NULL) {
        transfer->no_memory = true;
        return 0;
    }
    for (size_t i = 0; i < name_len; i++)
        name[i] = (char)tolower((unsigned char)name[i]);
    response->headers[response->header_count++] = (struct http_header){name, {copy, value.len}};
    if (strcmp(name, "content-type") == 0)
        response->content_type = media_type(transfer->arena, value);
    return len;
}

pawl_str http_header_of(const struct http_response *response, const char *name) {
    for (size_t i = 0; i < response->header_count; i++) {
        if (strcmp(response->headers[i].name, name) == 0)
            return response->headers[i].value;
    }
    return (pawl_str){NULL, 0};
}

enum http_verdict http_judge(int status) {
    if (status >= 200 && status < 300)
        return HTTP_DONE;
    if (status == 410)
        return HTTP_GONE;
    if (status == 408 || status == 409 || status == 425 || status == 429 || status >= 500 || status < 200)
        return HTTP_RETRY;
    return HTTP_PERMANENT; /* a redirect too: it would not be followed the next time either */
}

pawl_status http_meaning(int status) {
    enum http_verdict verdict = http_judge(status);
    return verdict == HTTP_DONE ? PAWL_OK : verdict == HTTP_RETRY ? PAWL_UNAVAILABLE : PAWL_INVALID;
}

/* Seconds, or a date. */
static int64_t retry_after_ms(const struct http_response *response) {
    pawl_str value = http_header_of(response, "retry-after");
    int64_t seconds = 0;
    if (str_absent(value))
        return -1;
    if (!str_to_i64(value, 0, INT32_MAX, &seconds)) {
        time_t at = curl_getdate(value.ptr, NULL);
        if (at == -1)
            return -1;
        /* The date is relative to the server's own clock, if it sends one. */
        pawl_str date = http_header_of(response, "date");
        time_t from = str_absent(date) ? -1 : curl_getdate(date.ptr, NULL);
        if (from == -1)
            from = (time_t)(clock_wall_ms() / 1000);
        seconds = at > from ? (int64_t)(at - from) : 0;
    }
    return seconds > HTTP_RETRY_AFTER_MS_MAX / 1000 ? HTTP_RETRY_AFTER_MS_MAX : seconds * 1000;
}

static pawl_status make_headers(const struct http_request *request, struct arena *arena,
                                struct curl_slist **list, pawl_error *err) {
    struct curl_slist *made = NULL;
    static const char *const silenced[] = {"Expect:", "Accept:", "Content-Type:"};
    pawl_status status = PAWL_OK;
    if (request->header_count > HTTP_HEADERS_MAX)
        return error_set(err, PAWL_INVALID, "http", "a request has at most %d headers", HTTP_HEADERS_MAX);
    for (size_t i = 0; i < request->header_count + 3 && status == PAWL_OK; i++) {
        const char *line = i < 3 ? silenced[i] : NULL;
        if (i >= 3) {
            const struct http_header *header = &request->headers[i - 3];
            pawl_str value = header->value;
            if (memchr(value.ptr != NULL ? value.ptr : "", '\n', value.len) != NULL ||
                memchr(value.ptr != NULL ? value.ptr : "", '\r', value.len) != NULL ||
                strpbrk(header->name, "\r\n: ") != NULL) {
                status =
                    error_set(err, PAWL_INVALID, "http", "the header %s contains a line end", header->name);
                break;
            }
            line = value.len > 0 ? arena_printf(arena, "%s: %.*s", header->name, STR_ARG(value))
                                 : arena_printf(arena, "%s;", header->name);
        }
        struct curl_slist *grown = line != NULL ? curl_slist_append(made, line) : NULL;
        if (grown == NULL)
            status = error_no_memory(err, "http");
        else
            made = grown;
    }
    if (status == PAWL_OK)
        *list = made;
    else
        curl_slist_free_all(made);
    return status;
}

static void set_options(struct http_transfer *transfer, struct curl_slist *headers, int64_t left_ms) {
    CURL *easy = transfer->client->easy;
    const struct http_request *request = transfer->request;
    const char *method = request->method != NULL ? request->method : "POST";
    curl_easy_reset(easy);
    curl_easy_setopt(easy, CURLOPT_URL, request->url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_PROXY, ""); /* a proxy would connect to addresses that were not checked */
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* do not block on a hanging name server */
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "pawl/" PAWL_VERSION);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)left_ms);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                     (long)(left_ms < HTTP_CONNECT_MS_MAX ? left_ms : HTTP_CONNECT_MS_MAX));
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->reason);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    if (request->ca_file != NULL)
        curl_easy_setopt(easy, CURLOPT_CAINFO, request->ca_file);
    /* A kept connection to a private address must not be reused for a caller that may not reach it. */
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, request->allow_private ? 0L : 1L);
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, request->allow_private ? 0L : 1L);
    if (!str_absent(request->body)) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body.ptr);
    } else if (strcmp(method, "POST") == 0) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, 0L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "");
    }
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
}

static CURLcode perform(struct http_transfer *transfer) {
    CURLM *multi = transfer->client->multi;
    CURLcode code = CURLE_FAILED_INIT;
    int running = 1;
    if (curl_multi_add_handle(multi, transfer->client->easy) != CURLM_OK)
        return code;
    while (running > 0 && stop_read(transfer->request->cancel) == STOP_NONE) {
        if (curl_multi_perform(multi, &running) != CURLM_OK ||
            (running > 0 && curl_multi_poll(multi, NULL, 0, HTTP_LOOK_MS, NULL) != CURLM_OK))
            break;
    }
    int left = 0;
    for (CURLMsg *said; (said = curl_multi_info_read(multi, &left)) != NULL;) {
        if (said->msg == CURLMSG_DONE)
            code = said->data.result;
    }
    curl_multi_remove_handle(multi, transfer->client->easy);
    return code;
}

static pawl_status explain(const struct http_transfer *transfer, CURLcode code, pawl_error *err) {
    const struct http_request *request = transfer->request;
    const char *url = request->url;
    if (stop_read(request->cancel) != STOP_NONE)
        return error_set(err, PAWL_STALE, "http", "the call to %s was cancelled", url);
    if (transfer->no_memory)
        return error_no_memory(err, "http");
    if (transfer->refused)
        return error_set(err, PAWL_INVALID, "http",
                         "%s has a private address, which this caller may not reach; allow it where the "
                         "endpoint is configured",
                         url);
    if (transfer->too_large)
        return error_set(err, PAWL_UNAVAILABLE, "http", "the answer of %s is larger than %zu bytes", url,
                         request->body_bytes_max != 0 ? request->body_bytes_max
                                                      : (size_t)HTTP_BODY_BYTES_MAX);
    if (code == CURLE_OPERATION_TIMEDOUT)
        return error_set(err, PAWL_UNAVAILABLE, "http", "%s did not answer in time", url);
    return error_set(err, PAWL_UNAVAILABLE, "http", "calling %s failed: %s", url,
                     transfer->reason[0] != '\0' ? transfer->reason : curl_easy_strerror(code));
}

bool http_client_sent(const struct http_client *client) { return client->sent; }

pawl_status http_call(struct http_client *client, const struct http_request *request, struct arena *arena,
                      struct http_response *response, pawl_error *err) {
    struct curl_slist *headers = NULL;
    struct http_response answer = {.retry_after_ms = -1};
    struct http_transfer transfer = {
        .request = request, .client = client, .arena = arena, .response = &answer};
    int64_t left_ms = request->deadline_ms - clock_boot_ms();
    if (left_ms <= 0)
        return error_set(err, PAWL_UNAVAILABLE, "http", "the call to %s exceeded its deadline", request->url);
    pawl_status status = http_check_url(request->url, err);
    if (status == PAWL_OK)
        status = make_headers(request, arena, &headers, err);
    if (status != PAWL_OK)
        return status;
    buf_init(&transfer.body, HTTP_BODY_BYTES_MAX + 1);
    set_options(&transfer, headers, left_ms);
    client->sent = false;
    CURLcode code = perform(&transfer);
    long request_bytes = 0;
    curl_easy_getinfo(client->easy, CURLINFO_REQUEST_SIZE, &request_bytes);
    client->sent = request_bytes > 0;
    if (code != CURLE_OK && !(transfer.enough && code == CURLE_WRITE_ERROR)) {
        status = explain(&transfer, code, err);
        goto done;
    }
    long http_status = 0;
    curl_easy_getinfo(client->easy, CURLINFO_RESPONSE_CODE, &http_status);
    answer.status = (int)http_status;
    answer.retry_after_ms = retry_after_ms(&answer);
    char *body = arena_copy(arena, transfer.body.ptr, transfer.body.len);
    if (body == NULL) {
        status = error_no_memory(err, "http");
        goto done;
    }
    answer.body = (pawl_str){body, transfer.body.len};
    *response = answer;
done:
    curl_easy_reset(client->easy);
    curl_slist_free_all(headers);
    buf_free(&transfer.body);
    return status;
}
