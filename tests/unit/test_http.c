/* The HTTP client against a small server of its own: answers, floods, hangs, redirects, private addresses. */
#include "support/check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/str.h"
#include "base/time/clock.h"
#include "handler/webhook.h"
#include "http/http.h"

/* The server's response to a path; the connection is closed afterwards unless it hangs. */
static const struct {
    const char *path;
    const char *answer;
    bool hang;
    int flood; /* so many more kilobytes */
} pages[] = {
    {"/ok",
     "HTTP/1.1 200 OK\r\nContent-Type: Application/JSON; charset=utf-8\r\nContent-Length: "
     "9\r\n\r\n{\"a\":\"b\"}",
     false, 0},
    {"/later", "HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n", false, 0},
    {"/date",
     "HTTP/1.1 503 Later\r\nDate: Mon, 02 Nov 2026 10:00:00 GMT\r\nRetry-After: Mon, 02 Nov 2026 10:00:30 "
     "GMT\r\nContent-Length: 0\r\n\r\n",
     false, 0},
    {"/moved", "HTTP/1.1 302 Found\r\nLocation: /ok\r\nContent-Length: 0\r\n\r\n", false, 0},
    {"/hang", "", true, 0},
    {"/slow", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this", true, 0},
    {"/flood", "HTTP/1.1 200 OK\r\n\r\n", false, 20000},
    {"/headers", "HTTP/1.1 200 OK\r\nX-Much: ", false, 200},
    {"/nonsense", "SSH-2.0-x\r\n", false, 0},
    {"/cut", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this", false, 0},
    {"/pieces", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n", true, 0},
};

static struct {
    int fd;
    int port;
    pthread_t thread;
    char seen[65536]; /* the last request */
} server;

static void answer(int fd) {
    size_t len = 0;
    char *end = NULL;
    while (end == NULL && len < sizeof(server.seen) - 1) {
        ssize_t got = read(fd, server.seen + len, sizeof(server.seen) - 1 - len);
        if (got <= 0)
            break;
        len += (size_t)got;
        server.seen[len] = '\0';
        end = strstr(server.seen, "\r\n\r\n");
    }
    static char block[1024];
    memset(block, 'x', sizeof(block));
    for (size_t i = 0; end != NULL && i < sizeof(pages) / sizeof(*pages); i++) {
        const char *at = strchr(server.seen, ' ');
        size_t path_len = strlen(pages[i].path);
        if (strncmp(at + 1, pages[i].path, path_len) != 0 || at[1 + path_len] != ' ')
            continue;
        ssize_t sent = send(fd, pages[i].answer, strlen(pages[i].answer), MSG_NOSIGNAL);
        for (int k = 0; sent >= 0 && k < pages[i].flood; k++)
            sent = send(fd, block, sizeof(block), MSG_NOSIGNAL);
        while (pages[i].hang && read(fd, block, sizeof(block)) > 0)
            continue; /* until the client has had enough */
    }
    close(fd);
}

static void *serve(void *self) {
    for (int fd; (fd = accept(server.fd, NULL, NULL)) >= 0;)
        answer(fd);
    return self;
}

static int start(void **fixture) {
    (void)fixture;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);
    server.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(server.fd, (struct sockaddr *)&address, len) != 0 || listen(server.fd, 16) != 0 ||
        getsockname(server.fd, (struct sockaddr *)&address, &len) != 0)
        return -1;
    server.port = ntohs(address.sin_port);
    return pthread_create(&server.thread, NULL, serve, NULL);
}

static int stop(void **fixture) {
    (void)fixture;
    shutdown(server.fd, SHUT_RDWR);
    pthread_join(server.thread, NULL);
    close(server.fd);
    return 0;
}

struct world {
    struct arena *arena;
    struct http_client *client;
    struct http_response response;
    pawl_error err;
    char url[128];
};

static void open_world(struct world *world) {
    memset(world, 0, sizeof(*world));
    world->arena = arena_create(0);
    assert_non_null(world->arena);
    assert_int_equal(http_client_create(&world->client, &world->err), PAWL_OK);
}

static void close_world(struct world *world) {
    http_client_free(world->client);
    arena_free(world->arena);
}

static pawl_status call(struct world *world, const char *path, struct http_request request) {
    snprintf(world->url, sizeof(world->url), "http://127.0.0.1:%d%s", server.port, path);
    request.url = world->url;
    if (request.deadline_ms == 0)
        request.deadline_ms = clock_boot_ms() + 5000;
    return http_call(world->client, &request, world->arena, &world->response, &world->err);
}

TEST(an_answer_comes_back) {
    struct world world;
    open_world(&world);
    struct http_header headers[] = {{"X-Mine", STR("7")}, {"X-Empty", STR("")}};
    struct http_request request = {
        .allow_private = true, .headers = headers, .header_count = 2, .body = STR("{}")};
    assert_int_equal(call(&world, "/ok", request), PAWL_OK);
    assert_int_equal(world.response.status, 200);
    assert_true(str_equal_cstr(world.response.body, "{\"a\":\"b\"}"));
    assert_true(str_equal_cstr(world.response.content_type, "application/json"));
    assert_true(str_equal_cstr(http_header_of(&world.response, "content-length"), "9"));
    assert_true(str_absent(http_header_of(&world.response, "x-none")));
    assert_non_null(strstr(server.seen, "POST /ok HTTP/1.1\r\n"));
    assert_non_null(strstr(server.seen, "X-Mine: 7\r\n"));
    assert_non_null(strstr(server.seen, "X-Empty:"));
    assert_null(strstr(server.seen, "Expect:"));
    close_world(&world);
}

TEST(a_server_may_ask_for_patience) {
    struct world world;
    open_world(&world);
    struct http_request request = {.allow_private = true, .method = "GET"};
    assert_int_equal(call(&world, "/later", request), PAWL_OK);
    assert_int_equal(world.response.status, 429);
    assert_int_equal(world.response.retry_after_ms, 7000);
    assert_int_equal(http_judge(429), HTTP_RETRY);
    assert_int_equal(call(&world, "/date", request), PAWL_OK);
    assert_int_equal(world.response.retry_after_ms, 30000);
    close_world(&world);
}

/* covers: J11 */
TEST(a_status_says_whether_to_try_again) {
    static const int again[] = {100, 408, 409, 425, 429, 500, 503, 599};
    static const int never[] = {300, 302, 400, 401, 404, 422};
    for (size_t i = 0; i < sizeof(again) / sizeof(*again); i++)
        assert_int_equal(http_judge(again[i]), HTTP_RETRY);
    for (size_t i = 0; i < sizeof(never) / sizeof(*never); i++)
        assert_int_equal(http_judge(never[i]), HTTP_PERMANENT);
    assert_int_equal(http_judge(204), HTTP_DONE);
    assert_int_equal(http_judge(410), HTTP_GONE);
}

TEST(redirects_are_not_followed) {
    struct world world;
    open_world(&world);
    assert_int_equal(call(&world, "/moved", (struct http_request){.allow_private = true}), PAWL_OK);
    assert_int_equal(world.response.status, 302);
    assert_int_equal(http_judge(302), HTTP_PERMANENT);
    close_world(&world);
}

TEST(private_addresses_are_refused_at_the_connection) {
    struct world world;
    open_world(&world);
    assert_int_equal(call(&world, "/ok", (struct http_request){0}), PAWL_INVALID);
    assert_non_null(strstr(world.err.text, "private address"));
    /* Also by name, and also when a connection is open already. */
    assert_int_equal(call(&world, "/ok", (struct http_request){.allow_private = true}), PAWL_OK);
    assert_int_equal(call(&world, "/ok", (struct http_request){0}), PAWL_INVALID);
    snprintf(world.url, sizeof(world.url), "http://localhost:%d/ok", server.port);
    struct http_request request = {.url = world.url, .deadline_ms = clock_boot_ms() + 5000};
    assert_int_equal(http_call(world.client, &request, world.arena, &world.response, &world.err),
                     PAWL_INVALID);
    close_world(&world);
}

TEST(which_addresses_are_private) {
    static const char *const privates[] = {"127.0.0.1",   "10.1.2.3",        "172.16.0.1", "172.31.255.255",
                                           "192.168.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
                                           "224.0.0.1",   "255.255.255.255", "198.18.0.1"};
    static const char *const publics[] = {"8.8.8.8", "172.32.0.1", "100.128.0.1", "193.0.0.1", "11.0.0.1"};
    static const char *const privates6[] = {"::1",
                                            "::",
                                            "fe80::1",
                                            "fc00::1",
                                            "fd12::1",
                                            "ff02::1",
                                            "::ffff:127.0.0.1",
                                            "64:ff9b::7f00:1",
                                            "2001:db8::1",
                                            "2002:7f00:1::",
                                            "::127.0.0.1"};
    static const char *const publics6[] = {"2606:4700::1", "2a00:1450::1", "::ffff:8.8.8.8"};
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    for (size_t i = 0; i < sizeof(privates) / sizeof(*privates); i++) {
        assert_int_equal(inet_pton(AF_INET, privates[i], &v4.sin_addr), 1);
        assert_true(http_address_is_private((struct sockaddr *)&v4));
    }
    for (size_t i = 0; i < sizeof(publics) / sizeof(*publics); i++) {
        assert_int_equal(inet_pton(AF_INET, publics[i], &v4.sin_addr), 1);
        assert_false(http_address_is_private((struct sockaddr *)&v4));
    }
    for (size_t i = 0; i < sizeof(privates6) / sizeof(*privates6); i++) {
        assert_int_equal(inet_pton(AF_INET6, privates6[i], &v6.sin6_addr), 1);
        assert_true(http_address_is_private((struct sockaddr *)&v6));
    }
    for (size_t i = 0; i < sizeof(publics6) / sizeof(*publics6); i++) {
        assert_int_equal(inet_pton(AF_INET6, publics6[i], &v6.sin6_addr), 1);
        assert_false(http_address_is_private((struct sockaddr *)&v6));
    }
}

TEST(everything_has_an_end) {
    static const char *const hanging[] = {"/hang", "/slow"};
    struct world world;
    open_world(&world);
    for (size_t i = 0; i < 2; i++) {
        int64_t began_ms = clock_boot_ms();
        struct http_request request = {.allow_private = true, .deadline_ms = began_ms + 300};
        assert_int_equal(call(&world, hanging[i], request), PAWL_UNAVAILABLE);
        assert_true(clock_boot_ms() - began_ms < 2000);
    }
    static const char *const broken[] = {"/flood", "/headers", "/nonsense", "/cut"};
    for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++)
        assert_int_equal(call(&world, broken[i], (struct http_request){.allow_private = true}),
                         PAWL_UNAVAILABLE);
    struct http_request small = {.allow_private = true, .body_bytes_max = 8};
    assert_int_equal(call(&world, "/ok", small), PAWL_UNAVAILABLE);
    small.body_bytes_max = 9;
    assert_int_equal(call(&world, "/ok", small), PAWL_OK);
    struct http_request over = {.allow_private = true, .deadline_ms = 1};
    assert_int_equal(call(&world, "/ok", over), PAWL_UNAVAILABLE);
    close_world(&world);
}

static void *cancel_soon(void *self) {
    nanosleep(&(struct timespec){0, 100000000}, NULL);
    stop_set((stop_flag *)self, STOP_ASKED);
    return NULL;
}

TEST(a_call_can_be_cancelled) {
    struct world world;
    open_world(&world);
    stop_flag cancel = false;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, &cancel), 0);
    int64_t began_ms = clock_boot_ms();
    struct http_request request = {.allow_private = true, .cancel = &cancel};
    assert_int_equal(call(&world, "/hang", request), PAWL_STALE);
    assert_true(clock_boot_ms() - began_ms < 3000);
    pthread_join(thread, NULL);
    close_world(&world);
}

static bool one_piece(void *self, int status, pawl_str content_type, pawl_str piece) {
    (void)content_type;
    *(size_t *)self += piece.len;
    return status != 200;
}

TEST(a_stream_can_be_left) {
    struct world world;
    open_world(&world);
    size_t seen = 0;
    struct http_request request = {.allow_private = true, .on_piece = one_piece, .self = &seen};
    assert_int_equal(call(&world, "/pieces", request), PAWL_OK);
    assert_int_equal(seen, 9);
    assert_int_equal(world.response.body.len, 0);
    close_world(&world);
}

TEST(wrong_requests_are_refused) {
    struct world world;
    open_world(&world);
    static const char *const urls[] = {"ftp://example.org/x", "file:///etc/passwd", "no address", "",
                                       "http://user:secret@example.org/"};
    for (size_t i = 0; i < sizeof(urls) / sizeof(*urls); i++)
        assert_int_equal(http_check_url(urls[i], &world.err), PAWL_INVALID);
    assert_int_equal(http_check_url("https://example.org/x?y=z", &world.err), PAWL_OK);
    struct http_header split = {"X-Bad", STR("a\r\nX-Other: b")};
    struct http_request request = {.allow_private = true, .headers = &split, .header_count = 1};
    assert_int_equal(call(&world, "/ok", request), PAWL_INVALID);
    close_world(&world);
}

/* The example of the Standard Webhooks specification. */
TEST(a_webhook_is_signed) {
    struct arena *arena = arena_create(0);
    pawl_error err;
    char *signature = NULL;
    assert_int_equal(webhook_sign("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                                  STR("msg_p5jXN8AQM9LWM0D4loKWxJek"), 1614265330,
                                  STR("{\"test\": 2432232314}"), arena, &signature, &err),
                     PAWL_OK);
    assert_string_equal(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    assert_int_equal(webhook_sign("whsec_short", STR("x"), 1, STR("{}"), arena, &signature, &err),
                     PAWL_INVALID);
    struct webhook_event event = {.id = STR("e1"),
                                  .source = STR("/pawl/shop"),
                                  .type = STR("order.placed"),
                                  .subject = STR("order-1"),
                                  .time_ms = 1000,
                                  .body = STR("{}")};
    struct http_header headers[WEBHOOK_HEADERS_MAX];
    size_t count = 0;
    assert_int_equal(webhook_headers(&event, "a secret of 16 b", 5, arena, headers, &count, &err), PAWL_OK);
    assert_int_equal(count, 10);
    assert_int_equal(webhook_headers(&event, NULL, 5, arena, headers, &count, &err), PAWL_OK);
    assert_int_equal(count, 7);
    assert_string_equal(headers[6].name, "ce-time");
    assert_true(str_equal_cstr(headers[6].value, "1970-01-01T00:00:01.000Z"));
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_comes_back),
        cmocka_unit_test(a_server_may_ask_for_patience),
        cmocka_unit_test(a_status_says_whether_to_try_again),
        cmocka_unit_test(redirects_are_not_followed),
        cmocka_unit_test(private_addresses_are_refused_at_the_connection),
        cmocka_unit_test(which_addresses_are_private),
        cmocka_unit_test(everything_has_an_end),
        cmocka_unit_test(a_call_can_be_cancelled),
        cmocka_unit_test(a_stream_can_be_left),
        cmocka_unit_test(wrong_requests_are_refused),
        cmocka_unit_test(a_webhook_is_signed),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
