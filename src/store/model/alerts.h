/* Alerts. */
#ifndef MODEL_ALERTS_H
#define MODEL_ALERTS_H

#include "store/alerts.h"
#include "store/model/state.h"

extern const struct store_alerts_ops model_alerts_ops;

void model_alerts_free(struct model *model);

#endif
