/* Duties, what came in and was refused, pauses and the audit. */
#ifndef STORE_SQLITE_FLEET_RELAY_H
#define STORE_SQLITE_FLEET_RELAY_H

#include "store/relay.h"

extern const struct store_relay_ops sqlite_relay_ops;

#endif
