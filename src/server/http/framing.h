/* Whether a request says once, and clearly, where it ends and which server it is for. */
#ifndef SERVER_HTTP_FRAMING_H
#define SERVER_HTTP_FRAMING_H

struct MHD_Connection;

/*
 * NULL, or what is wrong, as a sentence. A proxy in front that reads such a request in another way takes a
 * part of it for the next one, so it is refused and nothing more is read from its connection.
 */
const char *framing_fault(struct MHD_Connection *connection);

#endif
