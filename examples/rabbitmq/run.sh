#!/bin/sh
# Two services, each with its own database and worker; they share nothing but the broker that BROKER_URL names.
set -eu
shop() { DATABASE_URL=shop.db PAWL_SERVICE=shop pawl "$@"; }
billing() { DATABASE_URL=billing.db PAWL_SERVICE=billing pawl "$@"; }

shop migrate
billing migrate
for order in 1 2 3; do
    shop send order.placed "{\"order\": $order, \"total\": $((order * 10))}" --stream "order-$order"
done
DATABASE_URL=shop.db PAWL_SERVICE=shop pawl worker --transports shop.ini --on 'invoice.*=exec:./invoice.sh' --kinds outbox,inbox &
workers=$!
DATABASE_URL=billing.db PAWL_SERVICE=billing pawl worker --transports billing.ini --on 'order.*=exec:./bill.sh' --kinds outbox,inbox &
workers="$workers $!"
trap 'kill $workers; wait' EXIT
touch invoices.log
while [ "$(wc -l < invoices.log)" -lt 3 ]; do sleep 0.1; done
sort invoices.log
