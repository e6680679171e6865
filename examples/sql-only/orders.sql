-- A producer and a worker with nothing but psql. Every statement works from any language.
\set ON_ERROR_STOP on
SELECT pawl.register('billing', '{outbox,jobs}', lease => '1 min') AS me \gset

-- The producer: the order and its message exist together, or not at all.
BEGIN;
CREATE TABLE orders (id text PRIMARY KEY, amount int NOT NULL);
CREATE TABLE bills (id text PRIMARY KEY, amount int NOT NULL);
INSERT INTO orders VALUES ('order-1', 5);
SELECT pawl.send('order.placed', '{"order": "order-1", "amount": 5}', stream => 'order-1') AS message \gset
COMMIT;

-- The worker: it claims, and writes the bill in the transaction that completes the message.
SELECT id, token, type, payload FROM pawl.claim(:'me', max => 1) \gset work_
BEGIN;
INSERT INTO bills SELECT :'work_payload'::json ->> 'order', (:'work_payload'::json ->> 'amount')::int;
SELECT pawl.finish(:work_token, :'work_id');
COMMIT;
SELECT id || ' is billed: ' || amount FROM bills;

-- A job with a result.
SELECT pawl.enqueue('report', '{"month": 7}') AS job \gset
SELECT id, token FROM pawl.job_claim(:'me') \gset job_
SELECT pawl.job_complete(:'me', ARRAY[:job_token], ARRAY[:job_id], ARRAY['{"pages": 3}'::json]);
SELECT state, output FROM pawl.job_wait(:job);

SELECT pawl.deregister(:'me');
