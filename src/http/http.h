/* The HTTP client: one request, one response, with limits on everything. Receptors, perspectives, webhooks,
 * tools and MCP servers are all reached through this file. */
#ifndef HTTP_HTTP_H
#define HTTP_HTTP_H

#include "base/arena.h"
#include "base/stop.h"
#include "pawl.h"

enum {
    HTTP_BODY_BYTES_MAX = 8388608,      /* of an answer, unless the request says less */
    HTTP_HEADERS_MAX = 64,              /* of a request, and kept of an answer */
    HTTP_HEADER_BYTES_MAX = 65536,      /* of all headers of an answer */
    HTTP_CONNECT_MS_MAX = 10000,        /* the part of the deadline that connecting may use */
    HTTP_RETRY_AFTER_MS_MAX = 86400000, /* the longest Retry-After that is respected */
    HTTP_URL_BYTES_MAX = 8192,
    HTTP_LOOK_MS = 50 /* how often cancellation is checked */
};

struct http_header {
    const char *name;
    pawl_str value; /* no line ends */
};

struct http_request {
    const char *method; /* NULL = POST */
    const char *url;    /* http: or https:, no user and password in it */
    const struct http_header *headers;
    size_t header_count;
    pawl_str body;           /* absent = none */
    int64_t deadline_ms;     /* boot time; required */
    size_t body_bytes_max;   /* of the answer; 0 = HTTP_BODY_BYTES_MAX */
    bool allow_private;      /* loopback, private and link-local addresses may be called */
    const char *ca_file;     /* certificates to trust instead of the system's; NULL = the system's */
    const stop_flag *cancel; /* NULL = cannot be cancelled */
    /* Called with pieces of the body as they arrive, instead of collecting it. Return false to stop; the call
     * then succeeds. All headers have arrived by then. */
    bool (*on_piece)(void *self, int status, pawl_str content_type, pawl_str piece);
    void *self;
};

struct http_response {
    int status;
    pawl_str content_type;  /* without parameters, lower case; absent = none */
    pawl_str body;          /* ends with a NUL byte that is not counted; empty with on_piece */
    int64_t retry_after_ms; /* -1 = the server did not say */
    struct http_header headers[HTTP_HEADERS_MAX]; /* names in lower case; texts in the arena */
    size_t header_count;
};

struct http_client;

/* A client keeps its connections for the next call. One thread at a time; free takes NULL. */
PAWL_MUSTCHECK pawl_status http_client_create(struct http_client **client, pawl_error *err);
void http_client_free(struct http_client *client);

/*
 * One call. Redirects are not followed, proxies are not used, and the address is checked when the connection
 * is made, so a name cannot resolve differently between the check and the call. Any response status is
 * PAWL_OK; see http_judge. PAWL_INVALID: the request is wrong, or the address is refused; PAWL_UNAVAILABLE:
 * no answer (not reached, broken, too large, deadline over); PAWL_STALE: cancelled.
 */
PAWL_MUSTCHECK pawl_status http_call(struct http_client *client, const struct http_request *request,
                                     struct arena *arena, struct http_response *response, pawl_error *err);

/* Whether part of the last request was sent: then a failed call may have taken effect. */
bool http_client_sent(const struct http_client *client);

/* The value of a header of the answer; absent when it has none. name in lower case. */
pawl_str http_header_of(const struct http_response *response, const char *name);

/* What a status means for the work: done, retry, never retry, or never retry and send nothing else either
 * (410). */
enum http_verdict { HTTP_DONE, HTTP_RETRY, HTTP_PERMANENT, HTTP_GONE };
enum http_verdict http_judge(int status);

/* The same as a status: PAWL_OK, PAWL_UNAVAILABLE (trying again may help) or PAWL_INVALID (it will not). */
pawl_status http_meaning(int status);

/* PAWL_OK if http_call would accept the address, as far as that can be checked without a network. */
PAWL_MUSTCHECK pawl_status http_check_url(const char *url, pawl_error *err);

struct sockaddr;
/* Whether an address is not publicly reachable: loopback, private, link-local, multicast, documentation and
 * the like, including IPv4 addresses embedded in IPv6 ones. */
bool http_address_is_private(const struct sockaddr *address);

#endif
