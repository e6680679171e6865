#!/bin/sh
# Billing's handler: an invoice for each order. A second attempt sends no second invoice: the request is the id of the order.
jq '{order: .payload.order, amount: .payload.total}' |
    DATABASE_URL=billing.db pawl send invoice.written - --stream "$PAWL_STREAM" --request "$PAWL_ID"
