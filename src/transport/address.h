/* The address of a broker, taken apart. */
#ifndef TRANSPORT_ADDRESS_H
#define TRANSPORT_ADDRESS_H

#include "base/arena.h"
#include "pawl.h"

/* Texts are in the arena and end with a NUL byte; absent parts are NULL. */
struct address {
    const char *scheme;
    const char *user, *password; /* percent-decoded */
    const char *host;            /* without the brackets of IPv6; for several brokers: the first */
    const char *hosts;           /* "a:1,b:2" as it was given */
    int port;                    /* 0 = not given */
    const char *path;            /* without the leading / */
    bool tls;                    /* the scheme says so */
};

/* scheme://[user[:password]@]host[:port][,host:port…][/path]. PAWL_INVALID says what is wrong, without the
 * password. */
PAWL_MUSTCHECK pawl_status address_parse(struct arena *arena, const char *url, struct address *address,
                                         pawl_error *err);

#endif
