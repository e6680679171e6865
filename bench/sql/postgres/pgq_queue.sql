-- pgq_queue: a fresh queue that ticks whenever it is told to, with one consumer.
DROP EXTENSION IF EXISTS pgq CASCADE;
DROP SCHEMA IF EXISTS pgq CASCADE;
CREATE EXTENSION pgq;
SELECT pgq.create_queue('bench');
SELECT pgq.set_queue_config('bench', 'ticker_max_count', '1');
SELECT pgq.set_queue_config('bench', 'ticker_max_lag', '0 seconds');
SELECT pgq.set_queue_config('bench', 'ticker_idle_period', '0 seconds');
SELECT pgq.register_consumer('bench', 'consumer');
