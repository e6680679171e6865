/* Checking that a request's framing and host are unambiguous. */
#include "server/http/framing.h"

#include <ctype.h>
#include <microhttpd.h>
#include <string.h>
#include <strings.h>

struct framing {
    int hosts, lengths, codings;
    const char *fault; /* of one header by itself */
};

/* RFC 9110: a name is a token. libmicrohttpd lets others pass, "Content-Length " among them. */
static int is_token(const char *name, size_t len) {
    size_t at = 0;
    while (at < len &&
           (isalnum((unsigned char)name[at]) || (name[at] != '\0' && strchr("!#$%&'*+-.^_`|~", name[at]))))
        at++;
    return len > 0 && at == len;
}

/* NOLINTNEXTLINE(readability-function-size): libmicrohttpd decides how many parameters this has */
static enum MHD_Result look(void *self, enum MHD_ValueKind kind, const char *name, size_t name_len,
                            const char *value, size_t value_len) {
    struct framing *framing = self;
    (void)kind;
    (void)value_len;
    if (!is_token(name, name_len))
        framing->fault = "The name of a header has a character that no name has.";
    else if (strcasecmp(name, "Host") == 0)
        framing->hosts++;
    else if (strcasecmp(name, "Content-Length") == 0)
        framing->lengths++;
    else if (strcasecmp(name, "Transfer-Encoding") == 0 && ++framing->codings > 0 &&
             (value == NULL || strcasecmp(value, "chunked") != 0))
        framing->fault = "The Transfer-Encoding may only be chunked.";
    return MHD_YES;
}

const char *framing_fault(struct MHD_Connection *connection) {
    struct framing framing = {.fault = NULL};
    (void)MHD_get_connection_values_n(connection, MHD_HEADER_KIND, look, &framing);
    if (framing.fault != NULL)
        return framing.fault;
    if (framing.hosts > 1)
        return "The request has more than one Host header.";
    if (framing.lengths > 1)
        return "The request has more than one Content-Length header.";
    if (framing.codings > 1)
        return "The request has more than one Transfer-Encoding header.";
    return framing.lengths + framing.codings > 1
               ? "The request has a Content-Length beside a Transfer-Encoding."
               : NULL;
}
