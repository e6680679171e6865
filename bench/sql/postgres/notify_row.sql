-- notify_row: one small row made durable and told of, in a transaction of its own.
WITH put AS (INSERT INTO bench.trip (channel) VALUES ($1)) SELECT pg_notify($1, '')
