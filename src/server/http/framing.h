/* Checking that a request's framing and host are unambiguous. */
#ifndef SERVER_HTTP_FRAMING_H
#define SERVER_HTTP_FRAMING_H

struct MHD_Connection;

/*
 * NULL, or a sentence that says what is wrong. A proxy that interprets such a request differently would take
 * part of it for the next one, so it is refused and nothing more is read from its connection.
 */
const char *framing_fault(struct MHD_Connection *connection);

#endif
