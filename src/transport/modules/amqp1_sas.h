/* Shared access signatures: tokens that prove a key to Azure Service Bus. */
#ifndef TRANSPORT_MODULES_AMQP1_SAS_H
#define TRANSPORT_MODULES_AMQP1_SAS_H

#include "pawl.h"

/* A token for the audience that is valid for this many seconds. False: it does not fit, or there is no HMAC.
 */
PAWL_MUSTCHECK bool amqp1_sas_token(const char *audience, const char *name, const char *key,
                                    int64_t valid_seconds, char *token, size_t size);

#endif
