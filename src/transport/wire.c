/* Connecting to a broker over TCP and TLS, reading and writing with deadlines. */
#include "transport/wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/time/clock.h"

struct wire {
    int fd;
    SSL_CTX *context;
    SSL *tls; /* NULL: plain */
};

/* False: the deadline passed. */
static bool wait_for(int fd, short events, int64_t until_ms) {
    struct pollfd poller = {.fd = fd, .events = events};
    while (true) {
        int64_t left_ms = until_ms - clock_boot_ms();
        if (left_ms < 0)
            return false;
        int ready = poll(&poller, 1, left_ms > 60000 ? 60000 : (int)left_ms);
        if (ready > 0)
            return true;
        if (ready == 0 && left_ms <= 60000)
            return false;
        if (ready < 0 && errno != EINTR)
            return false;
    }
}

static int connect_one(const struct addrinfo *info, int64_t until_ms, int *code) {
    int fd = socket(info->ai_family, info->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, info->ai_protocol);
    if (fd < 0) {
        *code = errno;
        return -1;
    }
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if (connect(fd, info->ai_addr, info->ai_addrlen) == 0)
        return fd;
    *code = errno;
    if (errno == EINPROGRESS) {
        socklen_t len = sizeof(*code);
        *code = ETIMEDOUT;
        if (wait_for(fd, POLLOUT, until_ms) && getsockopt(fd, SOL_SOCKET, SO_ERROR, code, &len) == 0 &&
            *code == 0)
            return fd;
    }
    close(fd);
    return -1;
}

static pawl_status connect_host(const struct address *address, int64_t until_ms, int *fd, pawl_error *err) {
    char port[8];
    snprintf(port, sizeof(port), "%d", address->port);
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    int failed = getaddrinfo(address->host, port, &hints, &found);
    if (failed != 0)
        return error_set(err, PAWL_UNAVAILABLE, "connect", "the host %s is not found: %s", address->host,
                         gai_strerror(failed));
    int code = 0;
    *fd = -1;
    for (struct addrinfo *info = found; info != NULL && *fd < 0; info = info->ai_next)
        *fd = connect_one(info, until_ms, &code);
    freeaddrinfo(found);
    if (*fd < 0)
        return error_errno(err, PAWL_UNAVAILABLE, "connect", code, "%s:%d cannot be reached", address->host,
                           address->port);
    return PAWL_OK;
}

static const char *tls_reason(const struct wire *wire, char *text, size_t size) {
    long verdict = wire->tls != NULL ? SSL_get_verify_result(wire->tls) : X509_V_OK;
    if (verdict != X509_V_OK)
        return X509_verify_cert_error_string(verdict);
    unsigned long code = ERR_get_error();
    if (code == 0)
        return "the connection ended";
    ERR_error_string_n(code, text, size);
    return text;
}

static pawl_status tls_context(struct wire *wire, const struct transport_config *config, pawl_error *err) {
    char text[128];
    wire->context = SSL_CTX_new(TLS_client_method());
    if (wire->context == NULL)
        return error_set(err, PAWL_NO_MEMORY, "connect", "no TLS context");
    SSL_CTX_set_min_proto_version(wire->context, TLS1_2_VERSION);
    SSL_CTX_set_verify(wire->context, SSL_VERIFY_PEER, NULL);
    int loaded = config->ca_file != NULL ? SSL_CTX_load_verify_locations(wire->context, config->ca_file, NULL)
                                         : SSL_CTX_set_default_verify_paths(wire->context);
    if (loaded != 1)
        return error_set(err, PAWL_INVALID, "connect", "the authorities in %s cannot be read: %s",
                         config->ca_file != NULL ? config->ca_file : "the system's store",
                         tls_reason(wire, text, sizeof(text)));
    if (config->cert_file != NULL &&
        (SSL_CTX_use_certificate_chain_file(wire->context, config->cert_file) != 1 ||
         SSL_CTX_use_PrivateKey_file(wire->context,
                                     config->key_file != NULL ? config->key_file : config->cert_file,
                                     SSL_FILETYPE_PEM) != 1))
        return error_set(err, PAWL_INVALID, "connect", "the client certificate %s cannot be used: %s",
                         config->cert_file, tls_reason(wire, text, sizeof(text)));
    return PAWL_OK;
}

/* Waits until the TLS layer can continue. False: a real error, or the deadline passed. */
static bool tls_again(struct wire *wire, int result, int64_t until_ms, bool *timeout) {
    int want = SSL_get_error(wire->tls, result);
    *timeout = false;
    if (want != SSL_ERROR_WANT_READ && want != SSL_ERROR_WANT_WRITE)
        return false;
    *timeout = !wait_for(wire->fd, want == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, until_ms);
    return !*timeout;
}

pawl_status wire_secure(struct wire *wire, const struct transport_config *config,
                        const struct address *address, int64_t until_ms, pawl_error *err) {
    pawl_status status = tls_context(wire, config, err);
    if (status != PAWL_OK)
        return status;
    wire->tls = SSL_new(wire->context);
    struct in6_addr ip;
    bool numeric = wire->tls != NULL && (inet_pton(AF_INET, address->host, &ip) == 1 ||
                                         inet_pton(AF_INET6, address->host, &ip) == 1);
    if (wire->tls == NULL || SSL_set_fd(wire->tls, wire->fd) != 1 ||
        (numeric ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(wire->tls), address->host)
                 : SSL_set1_host(wire->tls, address->host)) != 1 ||
        (!numeric && SSL_set_tlsext_host_name(wire->tls, address->host) != 1))
        return error_set(err, PAWL_NO_MEMORY, "connect", "no TLS session");
    int result;
    bool timeout = false;
    ERR_clear_error();
    while ((result = SSL_connect(wire->tls)) != 1) {
        if (tls_again(wire, result, until_ms, &timeout))
            continue;
        if (timeout)
            return error_set(err, PAWL_UNAVAILABLE, "connect", "%s:%d does not finish the TLS handshake",
                             address->host, address->port);
        char text[128];
        return error_set(err, PAWL_INVALID, "connect", "TLS with %s:%d failed: %s", address->host,
                         address->port, tls_reason(wire, text, sizeof(text)));
    }
    return PAWL_OK;
}

pawl_status wire_open(const struct transport_config *config, const struct address *address, struct wire **out,
                      pawl_error *err) {
    struct wire *wire = calloc(1, sizeof(*wire));
    if (wire == NULL)
        return error_no_memory(err, "connect");
    wire->fd = -1;
    int64_t until_ms = clock_boot_ms() + config->connect_ms;
    pawl_status status = connect_host(address, until_ms, &wire->fd, err);
    if (status == PAWL_OK && address->tls)
        status = wire_secure(wire, config, address, until_ms, err);
    if (status != PAWL_OK) {
        wire_close(wire);
        return status;
    }
    *out = wire;
    return PAWL_OK;
}

void wire_close(struct wire *wire) {
    if (wire == NULL)
        return;
    SSL_free(wire->tls);
    SSL_CTX_free(wire->context);
    if (wire->fd >= 0)
        close(wire->fd);
    free(wire);
}

static pawl_status lost(pawl_error *err, const char *what) {
    return error_set(err, PAWL_UNAVAILABLE, "connection", "%s", what);
}

/* One attempt: bytes moved, 0 = not now, -1 = lost. */
static ssize_t send_some(struct wire *wire, const char *bytes, size_t len, int64_t until_ms, bool *timeout) {
    *timeout = false;
    if (wire->tls != NULL) {
        ERR_clear_error();
        int result = SSL_write(wire->tls, bytes, len > 1 << 30 ? 1 << 30 : (int)len);
        if (result > 0)
            return result;
        return tls_again(wire, result, until_ms, timeout) ? 0 : -1;
    }
    ssize_t sent = send(wire->fd, bytes, len, MSG_NOSIGNAL);
    if (sent >= 0)
        return sent;
    if (errno == EINTR)
        return 0;
    if (errno != EAGAIN)
        return -1;
    *timeout = !wait_for(wire->fd, POLLOUT, until_ms);
    return *timeout ? -1 : 0;
}

pawl_status wire_write(struct wire *wire, const void *bytes, size_t len, int64_t until_ms, pawl_error *err) {
    const char *at = bytes;
    while (len > 0) {
        bool timeout = false;
        ssize_t sent = send_some(wire, at, len, until_ms, &timeout);
        if (sent < 0)
            return lost(err, timeout ? "the broker does not read what is sent" : "the connection was lost");
        at += sent;
        len -= (size_t)sent;
    }
    return PAWL_OK;
}

pawl_status wire_read(struct wire *wire, void *bytes, size_t size, int64_t until_ms, size_t *got,
                      pawl_error *err) {
    while (true) {
        ssize_t read_bytes;
        bool timeout = false;
        if (wire->tls != NULL) {
            ERR_clear_error();
            int result = SSL_read(wire->tls, bytes, size > 1 << 30 ? 1 << 30 : (int)size);
            read_bytes = result > 0 ? result : tls_again(wire, result, until_ms, &timeout) ? -2 : -1;
        } else {
            read_bytes = recv(wire->fd, bytes, size, 0);
            if (read_bytes < 0 && (errno == EAGAIN || errno == EINTR)) {
                timeout = !wait_for(wire->fd, POLLIN, until_ms);
                read_bytes = timeout ? -1 : -2;
            }
        }
        if (read_bytes > 0) {
            *got = (size_t)read_bytes;
            return PAWL_OK;
        }
        if (timeout)
            return error_set(err, PAWL_BUSY, "connection", "no answer in time");
        if (read_bytes != -2)
            return lost(err, "the broker ended the connection");
    }
}
