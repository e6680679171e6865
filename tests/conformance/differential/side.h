/* What the sides of a differential are: plain stores, or one of them swept (tests/sweep). */
#ifndef CONFORMANCE_SIDE_H
#define CONFORMANCE_SIDE_H

#include "base/buf.h"
#include "store/store.h"

/* Called once for each store, right after it was opened; what it returns takes its place. A call that is made
 * again takes back what was said since it began. */
struct store *side_opened(int side, struct store *store, const struct store_config *config, struct buf *said);

/* Whether calls of one side get request keys that those of the other have not. */
bool side_keys_given(void);

#endif
