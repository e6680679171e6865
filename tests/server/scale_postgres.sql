-- Fills a database for scale_test.py: :messages waiting messages and :letters dead letters, made from the messages that are
-- there, one per stream; a tenth as many jobs, half of them dead; as many completed messages as jobs.
-- psql -v messages=N -v letters=N -v jobs=N, with the schema in search_path.
CREATE TEMP TABLE template AS
SELECT m.*, row_number() OVER (ORDER BY m.seq) - 1 AS n FROM message m WHERE m.kind = 1;
ANALYZE template;
CREATE TEMP TABLE start AS SELECT last_value AS seq, extract(epoch FROM now())::bigint * 1000 AS ms, (SELECT count(*) FROM template) AS streams FROM message_seq;

DROP INDEX message_id;
INSERT INTO message (segment, seq, kind, lane, partition, id, stream, topic, type, payload, put_ms)
SELECT 0, s.seq + g, 1, t.lane, t.partition, gen_random_uuid(), t.stream, 'topic.' || g % 7,
       CASE WHEN g % 50000 = 49999 THEN 'rare.type' ELSE 'order.type' || g % 10 END,
       json_build_object('n', g, 'text', 'an order of some length, as they are', 'amount', g % 977), s.ms - 3600000 + g % 3600000
  FROM generate_series(1, :messages) g CROSS JOIN start s JOIN template t ON t.n = g % s.streams;
CREATE INDEX message_id ON message (id);
INSERT INTO tally (kind, put) VALUES (1, :messages);

INSERT INTO dead (seq, kind, lane, partition, id, stream, topic, type, payload, put_ms, attempts, deaths, reason, error, fingerprint, died_ms)
SELECT s.seq + :messages + g, 1, t.lane, t.partition, gen_random_uuid(), t.stream, 'topic.' || g % 7,
       CASE WHEN g % 50000 = 49999 THEN 'rare.type' ELSE 'order.type' || g % 10 END,
       json_build_object('n', g), s.ms - 7200000, 5, 0, 1, 'cause ' || g % 1000 || ': the bank is closed', lpad(to_hex(g % 1000), 16, '0'),
       s.ms - 3600000 + g % 3600000
  FROM generate_series(1, :letters) g CROSS JOIN start s JOIN template t ON t.n = g % s.streams;
INSERT INTO tally (kind, put, dead, failed) VALUES (1, :letters, :letters, :letters);

INSERT INTO history (seq, kind, lane, partition, id, stream, topic, type, payload, put_ms, attempts, deaths, ended_ms)
SELECT s.seq + :messages + :letters + g, 1, t.lane, t.partition, gen_random_uuid(), t.stream, 'topic.' || g % 7, 'order.type' || g % 10, '{}',
       s.ms - 7200000, 0, 0, s.ms - 3600000
  FROM generate_series(1, :jobs) g CROSS JOIN start s JOIN template t ON t.n = g % s.streams;
INSERT INTO tally (kind, put, done) VALUES (1, :jobs, :jobs);
SELECT setval('message_seq', (SELECT seq FROM start) + :messages + :letters + :jobs);

CREATE TEMP TABLE job_start AS SELECT last_value AS id, s.ms FROM job_seq CROSS JOIN start s;
CREATE TEMP TABLE job_template AS SELECT * FROM job LIMIT 1;
INSERT INTO job SELECT (jsonb_populate_record(NULL::job, to_jsonb(t) || jsonb_build_object('id', s.id + g, 'ord', t.ord + g, 'type', 'job.' || g % 9))).*
  FROM generate_series(1, :jobs / 2) g CROSS JOIN job_start s CROSS JOIN job_template t;
INSERT INTO job_aside SELECT (jsonb_populate_record(NULL::job_aside, to_jsonb(t) || jsonb_build_object('id', s.id + :jobs / 2 + g, 'state', 5,
              'reason', 1, 'died_ms', s.ms - g, 'error', 'cause ' || g % 500, 'fingerprint', lpad(to_hex(g % 500), 16, '0'), 'type', 'job.' || g % 9))).*
  FROM generate_series(1, :jobs / 2) g CROSS JOIN job_start s CROSS JOIN job_template t;
INSERT INTO job_tally (queue, ready, dead, put, died) SELECT queue, :jobs / 2, :jobs / 2, :jobs, :jobs / 2 FROM job_template;
SELECT setval('job_seq', (SELECT id FROM job_start) + :jobs);
-- 30 days of history of as many series as there may be: five kinds, 31 queues, 31 handlers.
INSERT INTO series (scope, kind, name, ready, dead)
SELECT 1, k.n, '', 100, 5 FROM generate_series(1, 5) AS k (n) UNION ALL
SELECT 2, 4, 'queue.' || k.n, 10, 1 FROM generate_series(1, 31) AS k (n) UNION ALL
SELECT 3, 1, 'order.type' || k.n, 10, 1 FROM generate_series(1, 31) AS k (n);
INSERT INTO series_point
SELECT r.step_ms, (s.ms - r.young_ms) / r.step_ms * r.step_ms - p.n::bigint * r.step_ms, i.id, p.n % 90, p.n % 7, p.n * 31 % 60000, p.n % 100, p.n % 3,
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, (p.n * 10) % 17, (p.n * 11) % 18, (p.n * 12) % 19, (p.n * 13) % 20, (p.n * 14) % 21, (p.n * 15) % 22, (p.n * 16) % 23, (p.n * 17) % 24, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, (p.n * 13) % 15, (p.n * 14) % 16, (p.n * 15) % 17, (p.n * 16) % 18, (p.n * 17) % 19, (p.n * 18) % 20, (p.n * 19) % 21, (p.n * 20) % 22, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
  FROM (VALUES (10000, 0::bigint, 360), (60000, 3600000, 1380), (900000, 86400000, 2784)) AS r (step_ms, young_ms, count)
  JOIN generate_series(1, 2784) AS p (n) ON p.n <= r.count CROSS JOIN start AS s CROSS JOIN series AS i;
SELECT maintain(NULL, 10000);
VACUUM ANALYZE message, dead, history, job, job_aside, series, series_point;
