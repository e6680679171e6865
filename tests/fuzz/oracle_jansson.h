/* Whether jansson takes a text for JSON. */
#ifndef ORACLE_JANSSON_H
#define ORACLE_JANSSON_H

#include <stdbool.h>
#include <stddef.h>

bool oracle_accepts(const char *text, size_t len);

#endif
