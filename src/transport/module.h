/* Finding and loading transport modules: each is a separate file that may be missing. */
#ifndef TRANSPORT_MODULE_H
#define TRANSPORT_MODULE_H

#include "transport/transport.h"

/* A transport that this version knows, whether its module is here or not. */
struct transport_known {
    const char *name;
    const char *schemes; /* "redis rediss" */
    const char *summary;
    const char *package;     /* of its client library: what to install when the module does not load */
    const char *dev_package; /* what to install before building the module */
};

extern const struct transport_known transport_known_rows[];
extern const size_t transport_known_count;

/* The transport for an address by its scheme, or NULL. */
const struct transport_known *transport_known_for(pawl_str url);

/*
 * Loads a module by its name from PAWL_TRANSPORT_DIR, the build or the installation. It stays loaded until
 * the process ends: client libraries keep threads. PAWL_NOT_FOUND: no such transport, or its file is missing;
 * PAWL_UNAVAILABLE: it cannot be loaded, and why.
 */
PAWL_MUSTCHECK pawl_status transport_load(const char *name, const struct transport_module **module,
                                          pawl_error *err);

/* Where modules are looked for, first to last; for messages. Returns the number. */
enum { TRANSPORT_DIRS_MAX = 3, TRANSPORT_DIR_BYTES = 4096 };

#endif
