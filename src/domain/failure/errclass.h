/* What a failure means for the work: try again, give up, or stop the worker. */
#ifndef DOMAIN_FAILURE_ERRCLASS_H
#define DOMAIN_FAILURE_ERRCLASS_H

#include "pawl.h"

enum errclass {
    ERRCLASS_RETRYABLE =
        1,              /* network timeout, something is down for a while: the same input may succeed later */
    ERRCLASS_PERMANENT, /* bad schema, no rights: the same input can only fail again */
    ERRCLASS_FATAL      /* not the work's fault: this worker has lost its database or itself */
};

const char *errclass_name(enum errclass error_class);

/* "retryable", "permanent", "fatal". */
PAWL_MUSTCHECK bool errclass_parse(pawl_str text, enum errclass *error_class);

/* How a status of our own library is classed. Not for PAWL_OK. */
enum errclass errclass_from_status(pawl_status status);

/*
 * The exit code of a handler process, not 0. Permanent: 64 usage, 65 data, 66 no input, 67 no user, 68 no
 * host, 77 no permission, 78 configuration (sysexits.h). Everything else may succeed later: also 126 and 127,
 * a program that is missing, because that is this machine's fault and not the message's.
 */
enum errclass errclass_from_exit(int exit_code);

/* A handler that a signal ended: retryable; the limit of attempts catches what always crashes. */
enum errclass errclass_from_signal(int signal_number);

/* An HTTP status of a handler, not 2xx. Retryable: 408, 425, 429 and 5xx; permanent: everything else. */
enum errclass errclass_from_http(int http_status);

/*
 * A short name that a handler gives its error ("timeout", "auth", …), lower or upper case; the table is in
 * errclass.c. A name that is not known is retryable: giving up early loses work, trying again only costs
 * time.
 */
enum errclass errclass_from_name(pawl_str name);

#endif
