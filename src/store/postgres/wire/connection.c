/* One connection to a PostgreSQL server: options, connecting, waiting, reconnecting. */
#include "store/postgres/wire/connection.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "domain/name.h"
#include "store/postgres/wire/schema.h"

enum {
    OPTIONS_MAX = 64,
    OPTIONS_TEXT_BYTES = 512,
    NUMBER_BYTES = 16,
    READS_MAX = 8,
    LINE_BYTES = 400,
    HOST_BYTES = 256
};
/* A connection that answered this recently is not checked before use. */
enum { FRESH_US = 200 };

static const char *option_value(const PQconninfoOption *options, const char *keyword) {
    for (const PQconninfoOption *option = options; option->keyword != NULL; option++) {
        if (strcmp(option->keyword, keyword) == 0)
            return option->val != NULL && option->val[0] != '\0' ? option->val : NULL;
    }
    return NULL;
}

static bool is_local(const char *host, size_t len) {
    pawl_str name = {host, len};
    return len == 0 || host[0] == '/' || host[0] == '@' || str_equal_cstr(name, "localhost") ||
           str_equal_cstr(name, "::1") || str_starts_with(name, STR("127."));
}

/* Hosts come as a list with commas. */
static bool all_local(const char *hosts) {
    while (hosts != NULL) {
        size_t len = strcspn(hosts, ",");
        if (!is_local(hosts, len))
            return false;
        hosts = hosts[len] == ',' ? hosts + len + 1 : NULL;
    }
    return true;
}

/* A value of the address, or of the environment in its place; NULL is none. */
static const char *address_value(const PQconninfoOption *options, const char *keyword, const char *variable) {
    const char *value = option_value(options, keyword);
    return value != NULL ? value : getenv(variable);
}

/* Whether every server the address may mean is on this machine; the environment may name one too. */
static bool address_local(const PQconninfoOption *options) {
    const char *host = address_value(options, "host", "PGHOST");
    const char *hostaddr = address_value(options, "hostaddr", "PGHOSTADDR");
    /* A service file may name any host: it must configure TLS itself. */
    return all_local(hostaddr != NULL ? hostaddr : host) && option_value(options, "service") == NULL;
}

static int list_count(const char *list) {
    int count = 1;
    for (; list != NULL && (list = strchr(list, ',')) != NULL; list++)
        count++;
    return count;
}

static int host_count(const PQconninfoOption *options) {
    int hosts = list_count(address_value(options, "host", "PGHOST"));
    int addresses = list_count(address_value(options, "hostaddr", "PGHOSTADDR"));
    return hosts > addresses ? hosts : addresses;
}

static pawl_status queries_prepare(struct postgres *self, const char *op, pawl_error *err) {
    struct buf text;
    buf_init(&text, 0);
    pawl_status status = PAWL_OK;
    bool usual = strcmp(self->schema, "pawl") == 0;
    for (size_t i = 0; usual && i < POSTGRES_Q_COUNT; i++)
        self->queries[i] = sql_postgres_queries[i].text;
    for (size_t i = 0; !usual && status == PAWL_OK && i < POSTGRES_Q_COUNT; i++) {
        buf_reset(&text);
        pg_schema_substitute(&text, sql_postgres_queries[i].text, self->schema);
        status = buf_status(&text, op, err);
        if (status == PAWL_OK && (self->queries[i] = strdup(text.ptr)) == NULL)
            status = error_set(err, PAWL_NO_MEMORY, op, "no memory for the statements");
    }
    buf_free(&text);
    return status;
}

pawl_status pg_connection_init(struct postgres *self, const struct store_config *config, const char *op,
                               pawl_error *err) {
    const char *schema = config->schema != NULL ? config->schema : "pawl";
    pawl_status status = name_check_schema(str_from(schema), err);
    if (status != PAWL_OK)
        return status;
    snprintf(self->schema, sizeof self->schema, "%s", schema);
    if (config->role != NULL) {
        status = name_check_schema(str_from(config->role), err); /* the same form */
        if (status != PAWL_OK)
            return status;
        snprintf(self->role, sizeof self->role, "%s", config->role);
    }
    self->connect_timeout_ms = config->connect_timeout_ms > 0 ? config->connect_timeout_ms
                                                              : PAWL_CONNECT_TIMEOUT_MS_DEFAULT;
    self->statement_timeout_ms = config->statement_timeout_ms > 0 ? config->statement_timeout_ms
                                                                  : PAWL_STATEMENT_TIMEOUT_MS_DEFAULT;
    self->address.direct = true;
    /* libpq's message may quote part of the address, possibly the password. */
    self->address.options = PQconninfoParse(config->url, NULL);
    if (self->address.options == NULL)
        return error_set(
            err, PAWL_INVALID, op,
            "the database address cannot be read; write postgres://user@host:port/database, special "
            "characters in %%-form");
    return queries_prepare(self, op, err);
}

void pg_connection_drop(struct postgres *self) {
    if (self->conn != NULL && !uuid_is_nil(self->alive))
        self->lock_lost = true;
    PQfinish(self->conn); /* takes NULL */
    self->conn = NULL;
    self->session = SESSION_UNKNOWN;
    memset(self->sent_before, 0, sizeof self->sent_before);
    memset(self->prepared, 0, sizeof self->prepared);
}

void pg_connection_free(struct postgres *self) {
    pg_connection_drop(self);
    PQconninfoFree(self->address.options); /* takes NULL */
    self->address.options = NULL;
    for (size_t i = 0; i < POSTGRES_Q_COUNT; i++) {
        if (self->queries[i] != sql_postgres_queries[i].text)
            free((char *)self->queries[i]);
        self->queries[i] = NULL;
    }
}

bool pg_connection_wait(PGconn *conn, short events, int64_t deadline_ms) {
    struct pollfd fd = {.fd = PQsocket(conn), .events = events};
    for (;;) {
        int64_t left_ms = deadline_ms - clock_boot_ms();
        if (left_ms <= 0 || fd.fd < 0)
            return false;
        int ready = poll(&fd, 1, left_ms > INT32_MAX ? INT32_MAX : (int)left_ms);
        if (ready > 0)
            return true; /* also on POLLERR and POLLHUP: libpq finds out what it is */
        if (ready < 0 && errno != EINTR)
            return false;
    }
}

/* A commit whose wait for its synchronous standby was cancelled: the caller must be told that the outcome is
 * unknown. The warning has the generic code and a localised text, but it names the server function that
 * raised it, which is unique. */
static void notice_receive(void *self, const PGresult *result) {
    const char *function = PQresultErrorField(result, PG_DIAG_SOURCE_FUNCTION);
    if (function != NULL && strcmp(function, "SyncRepWaitForLSN") == 0)
        ((struct postgres *)self)->doubt = true;
}

struct keywords {
    const char *names[OPTIONS_MAX];
    const char *values[OPTIONS_MAX];
    int count;
    char timeout[NUMBER_BYTES], settings[OPTIONS_TEXT_BYTES];
    char hosts[3][HOST_BYTES]; /* host, hostaddr and port of one of several servers */
};

static void keyword_add(struct keywords *keywords, const char *name, const char *value) {
    if (keywords->count < OPTIONS_MAX - 1) {
        keywords->names[keywords->count] = name;
        keywords->values[keywords->count++] = value;
    }
}

/* One server of several: libpq goes on to the next one only when a server refuses, not when one accepts the
 * connection and never answers, unless it may block; so each is tried by itself. A list of one port is for
 * all of them. */
static void keywords_host(const struct postgres *self, struct keywords *keywords, int host) {
    static const char *const lists[][2] = {
        {"host", "PGHOST"}, {"hostaddr", "PGHOSTADDR"}, {"port", "PGPORT"}};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        const char *at = address_value(self->address.options, lists[i][0], lists[i][1]);
        for (int skip = list_count(at) > 1 ? host : 0; at != NULL && skip > 0; skip--) {
            at = strchr(at, ',');
            at = at != NULL ? at + 1 : NULL;
        }
        if (at == NULL)
            continue;
        snprintf(keywords->hosts[i], HOST_BYTES, "%.*s", (int)strcspn(at, ","), at);
        keyword_add(keywords, lists[i][0], keywords->hosts[i]);
    }
    if (option_value(self->address.options, "target_session_attrs") == NULL)
        keyword_add(keywords, "target_session_attrs", "read-write");
}

/* The user's options, and ours where the user set none. PAWL_INVALID when they are too long together. */
static pawl_status keywords_fill(const struct postgres *self, struct keywords *keywords, int host,
                                 const char *op, pawl_error *err) {
    const PQconninfoOption *options = self->address.options;
    bool several = host_count(options) > 1;
    char *settings = keywords->settings;
    snprintf(keywords->timeout, NUMBER_BYTES, "%d", (self->connect_timeout_ms + 999) / 1000 + 1);
    const struct {
        const char *name, *value;
    } ours[] = {
        {"fallback_application_name", "pawl"},
        {"connect_timeout", keywords->timeout},
        {"keepalives", "1"},
        /* The system notices a dead connection within 5 s: sent data is not acknowledged, or keepalives, one
         * per second while idle, are not answered. */
        {"keepalives_idle", "2"},
        {"keepalives_interval", "1"},
        {"keepalives_count", "3"},
        {"tcp_user_timeout", "5000"},
        {"client_encoding", "UTF8"},
        {"sslmode", address_local(options) ? NULL : "verify-full"},
    };
    for (const PQconninfoOption *option = options; option->keyword != NULL; option++) {
        bool list = several &&
                    (strcmp(option->keyword, "host") == 0 || strcmp(option->keyword, "hostaddr") == 0 ||
                     strcmp(option->keyword, "port") == 0);
        if (option->val != NULL && !list && strcmp(option->keyword, "options") != 0)
            keyword_add(keywords, option->keyword, option->val);
    }
    if (several)
        keywords_host(self, keywords, host);
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
        if (ours[i].value != NULL && option_value(options, ours[i].name) == NULL)
            keyword_add(keywords, ours[i].name, ours[i].value);
    }
    const char *theirs = option_value(options, "options");
    if (theirs == NULL)
        theirs = getenv("PGOPTIONS"); /* libpq itself looks there only when no options are given */
    int len =
        snprintf(settings, OPTIONS_TEXT_BYTES,
                 "%s -c statement_timeout=%d -c lock_timeout=%d -c idle_in_transaction_session_timeout=%d "
                 "-c client_connection_check_interval=1000 -c default_transaction_isolation=read\\ committed "
                 "-c jit=off%s%s",
                 theirs != NULL ? theirs : "", self->statement_timeout_ms, PAWL_LOCK_TIMEOUT_MS_DEFAULT,
                 self->statement_timeout_ms, self->role[0] != '\0' ? " -c role=" : "", self->role);
    if (self->address.direct && (len < 0 || len >= OPTIONS_TEXT_BYTES))
        return error_set(
            err, PAWL_INVALID, op,
            "the connection's options are %d bytes with ours; at most %d fit: shorten options= in the "
            "address or PGOPTIONS, or set them for the database's user",
            len, OPTIONS_TEXT_BYTES - 1);
    if (self->address.direct)
        keyword_add(keywords, "options", settings);
    else if (theirs != NULL)
        keyword_add(keywords, "options", theirs);
    return PAWL_OK;
}

/* libpq says it in several lines. */
static void one_line(const char *message, char line[static LINE_BYTES]) {
    size_t len = 0;
    for (const char *at = message; *at != '\0' && len + 1 < LINE_BYTES; at++) {
        bool blank = *at == '\n' || *at == '\t' || *at == ' ';
        if (!blank || (len > 0 && line[len - 1] != ' '))
            line[len++] = blank ? ' ' : *at;
    }
    line[len > 0 && line[len - 1] == ' ' ? len - 1 : len] = '\0';
}

/* PAWL_UNAVAILABLE when there is no server within the time; *refused when a pooler did not like our session
 * settings, *no_role when the login may not act as the role, or there is none. */
static pawl_status connect_host(struct postgres *self, int64_t deadline_ms, const char *op, bool *refused,
                                bool *no_role, pawl_error *err) {
    struct keywords keywords = {.count = 0};
    pawl_status filled = keywords_fill(self, &keywords, self->address.host, op, err);
    if (filled != PAWL_OK)
        return filled;
    self->conn = PQconnectStartParams(keywords.names, keywords.values, 0);
    if (self->conn == NULL)
        return error_set(err, PAWL_NO_MEMORY, op, "no memory for a connection");
    PostgresPollingStatusType state = PQstatus(self->conn) == CONNECTION_BAD ? PGRES_POLLING_FAILED
                                                                             : PGRES_POLLING_WRITING;
    bool in_time = true;
    while (in_time && state != PGRES_POLLING_OK && state != PGRES_POLLING_FAILED) {
        in_time =
            pg_connection_wait(self->conn, state == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline_ms);
        if (in_time)
            state = PQconnectPoll(self->conn);
    }
    if (state == PGRES_POLLING_OK && PQsetnonblocking(self->conn, 1) == 0) {
        PQsetNoticeReceiver(self->conn, notice_receive, self);
        return PAWL_OK;
    }
    const char *message = in_time ? PQerrorMessage(self->conn) : "no answer in time";
    *refused = strstr(message, "startup parameter") != NULL;
    *no_role = self->role[0] != '\0' && strstr(message, self->role) != NULL &&
               (strstr(message, "set role") != NULL || strstr(message, "does not exist") != NULL);
    char line[LINE_BYTES];
    one_line(message, line);
    pawl_status status = error_set(err, PAWL_UNAVAILABLE, op, "cannot connect to PostgreSQL: %s", line);
    pg_connection_drop(self);
    return status;
}

/* How long one of the servers may take: as the address says, but no more than its share of what is left. */
static int64_t host_time_ms(const struct postgres *self, int64_t left_ms, int servers) {
    const char *said = address_value(self->address.options, "connect_timeout", "PGCONNECT_TIMEOUT");
    int64_t said_ms = said != NULL ? strtoll(said, NULL, 10) * 1000 : 0;
    int64_t share_ms = left_ms / servers;
    return said_ms > 0 && said_ms < share_ms ? said_ms : share_ms;
}

/* One after the other, beginning with the one that answered last. */
static pawl_status connect_once(struct postgres *self, const char *op, bool *refused, bool *no_role,
                                pawl_error *err) {
    int count = host_count(self->address.options);
    int servers = self->address.pinned ? 1 : count;
    self->address.host %= count;
    int64_t end_ms = clock_boot_ms() + self->connect_timeout_ms;
    pawl_status status = PAWL_UNAVAILABLE;
    for (int left = servers; left > 0; left--) {
        int64_t now_ms = clock_boot_ms();
        int64_t time_ms = servers == 1 ? end_ms - now_ms : host_time_ms(self, end_ms - now_ms, left);
        status = connect_host(self, now_ms + time_ms, op, refused, no_role, err);
        if (status != PAWL_UNAVAILABLE || *refused || *no_role)
            break;
        if (!self->address.pinned)
            self->address.host = (self->address.host + 1) % count;
    }
    return status;
}

/* Whether the connection has died while it was idle; a server that ends says so on the idle socket. */
static bool is_alive(struct postgres *self) {
    if (PQstatus(self->conn) != CONNECTION_OK)
        return false;
    if (clock_boot_us() - self->answered_us < FRESH_US)
        return PQtransactionStatus(self->conn) == PQTRANS_IDLE;
    struct pollfd fd = {.fd = PQsocket(self->conn), .events = POLLIN};
    /* Read what the server sent, then the end of the stream. */
    for (int reads = 0; reads < READS_MAX && poll(&fd, 1, 0) > 0; reads++) {
        if (PQconsumeInput(self->conn) == 0)
            return false;
    }
    return PQstatus(self->conn) == CONNECTION_OK && PQtransactionStatus(self->conn) == PQTRANS_IDLE;
}

pawl_status pg_connection_ready(struct postgres *self, const char *op, pawl_error *err) {
    if (self->conn != NULL && is_alive(self))
        return PAWL_OK;
    pg_connection_drop(self);
    bool refused = false, no_role = false;
    pawl_status status = connect_once(self, op, &refused, &no_role, err);
    if (status != PAWL_OK && no_role) {
        self->role[0] = '\0';
        status = connect_once(self, op, &refused, &no_role, err);
    }
    if (status != PAWL_OK && refused && self->address.direct) {
        self->address.direct = false;
        self->role[0] = '\0';
        status = connect_once(self, op, &refused, &no_role, err);
    }
    return status;
}

/* The answer to one query on a separate connection; -1 if there is none in time. A server that answers, even
 * with an error, is reachable. */
static int64_t ask_beside(struct postgres *beside, int pid, int64_t deadline_ms) {
    char number[NUMBER_BYTES];
    const char *values[] = {number};
    bool refused = false, no_role = false;
    int64_t answer = -1;
    pawl_error ignored;
    if (connect_once(beside, "session_working", &refused, &no_role, &ignored) != PAWL_OK)
        return clock_boot_ms() < deadline_ms ? 1 : -1;
    snprintf(number, sizeof number, "%d", pid);
    bool sent = PQsendQueryParams(beside->conn, beside->queries[POSTGRES_Q_SESSION_WORKING], 1, NULL, values,
                                  NULL, NULL, 0) == 1 &&
                PQflush(beside->conn) == 0;
    while (sent && PQisBusy(beside->conn) && pg_connection_wait(beside->conn, POLLIN, deadline_ms))
        sent = PQconsumeInput(beside->conn) == 1;
    if (sent && !PQisBusy(beside->conn)) {
        PGresult *result = PQgetResult(beside->conn);
        if (PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1)
            answer = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
        PQclear(result);
    }
    PQfinish(beside->conn);
    beside->conn = NULL;
    return answer;
}

bool pg_connection_working(const struct postgres *self, int64_t within_ms) {
    struct postgres beside = {.address = self->address,
                              .connect_timeout_ms = (int)within_ms,
                              .statement_timeout_ms = (int)within_ms};
    beside.address.pinned = true; /* another server knows nothing of this session */
    memcpy(beside.schema, self->schema, sizeof beside.schema);
    memcpy(beside.role, self->role, sizeof beside.role);
    memcpy(beside.queries, self->queries, sizeof(beside.queries)); /* borrowed */
    return ask_beside(&beside, PQbackendPID(self->conn), clock_boot_ms() + within_ms) > 0;
}
