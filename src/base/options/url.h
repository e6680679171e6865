/* Database addresses shown without their secrets. */
#ifndef BASE_OPTIONS_URL_H
#define BASE_OPTIONS_URL_H

#include "base/buf.h"
#include "pawl.h"

/*
 * Appends url with the password replaced by ***: in user:password@host, in ?password=… and other secret
 * parameters of libpq (sslpassword), and in key=value connection strings. When in doubt it hides
 * more.
 */
void url_redact(struct buf *buf, pawl_str url);

/* Appends text without the passwords of database addresses that it quotes. */
void url_redact_text(struct buf *buf, const char *text);

#endif
