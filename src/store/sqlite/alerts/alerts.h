/* Alerts. */
#ifndef STORE_SQLITE_ALERTS_ALERTS_H
#define STORE_SQLITE_ALERTS_ALERTS_H

#include "store/alerts.h"

extern const struct store_alerts_ops sqlite_alerts_ops;

#endif
