/* Fingerprints: errors with the same cause share one, whatever ids and numbers are in their texts. */
#ifndef DOMAIN_FAILURE_FINGERPRINT_H
#define DOMAIN_FAILURE_FINGERPRINT_H

#include "pawl.h"

enum { FINGERPRINT_TEXT_BYTES = 201, FINGERPRINT_BYTES = 17 };

/*
 * The pattern of an error text, at most 200 bytes and a NUL byte: its first line, where
 *   'text' and "text" (not after a letter or digit, as in don't)   become <s>
 *   a UUID                                                          becomes <uuid>
 *   0x… and 8 or more hex digits, of them a digit and a letter      become <hex>
 *   any other digits                                                become <n>
 *   blanks                                                          become one, none at the ends.
 * Returns text.
 */
char *fingerprint_normalize(pawl_str error, char text[static FINGERPRINT_TEXT_BYTES]);

/* 16 hex digits: the 64-bit hash of the pattern, the same hash as the streams' (base/hash.h). Returns text.
 */
char *fingerprint(pawl_str error, char text[static FINGERPRINT_BYTES]);

#endif
