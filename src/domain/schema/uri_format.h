/* Whether a text is an address (RFC 3986, 3987) or a template of one (RFC 6570). */
#ifndef DOMAIN_SCHEMA_URI_FORMAT_H
#define DOMAIN_SCHEMA_URI_FORMAT_H

#include "pawl.h"

/* absolute: it has a scheme. foreign: letters beyond ASCII are allowed. */
bool uri_format_ok(pawl_str text, bool absolute, bool foreign);
bool uri_template_ok(pawl_str text);

#endif
