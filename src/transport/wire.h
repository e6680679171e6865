/* A byte stream to a broker: TCP, with verified TLS on top when wanted, and a deadline on everything. */
#ifndef TRANSPORT_WIRE_H
#define TRANSPORT_WIRE_H

#include "transport/transport.h"

struct wire;

/* PAWL_UNAVAILABLE: cannot be reached; PAWL_INVALID: the TLS handshake failed for good. */
PAWL_MUSTCHECK pawl_status wire_open(const struct transport_config *config, const struct address *address,
                                     struct wire **wire, pawl_error *err);
/* Begins TLS on a connection that was opened without: some brokers speak first. */
PAWL_MUSTCHECK pawl_status wire_secure(struct wire *wire, const struct transport_config *config,
                                       const struct address *address, int64_t until_ms, pawl_error *err);
void wire_close(struct wire *wire); /* takes NULL */

/* Writes all of it before the deadline (boot time). */
PAWL_MUSTCHECK pawl_status wire_write(struct wire *wire, const void *bytes, size_t len, int64_t until_ms,
                                      pawl_error *err);

/* What is there, at least one byte; PAWL_BUSY when nothing came before the deadline. */
PAWL_MUSTCHECK pawl_status wire_read(struct wire *wire, void *bytes, size_t size, int64_t until_ms,
                                     size_t *got, pawl_error *err);

#endif
