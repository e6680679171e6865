/* Addresses of schemas: how a reference is resolved against the address it is in (RFC 3986). */
#ifndef DOMAIN_SCHEMA_URI_H
#define DOMAIN_SCHEMA_URI_H

#include "base/arena.h"
#include "pawl.h"

/* Resolves reference relative to base; both may have fragments, base's is ignored. NULL ptr when there is no
 * memory. */
pawl_str uri_resolve(struct arena *arena, pawl_str base, pawl_str reference);

/* The address without its fragment, and the fragment without its #; absent when there is no #. */
pawl_str uri_without_fragment(pawl_str uri);
pawl_str uri_fragment(pawl_str uri);

#endif
