#!/bin/sh
# The shop's handler of invoices.
jq -r '"order \(.payload.order) costs \(.payload.amount)"' >> invoices.log
