-- Fills a database for scale_test.py, as scale_postgres.sql does. Parameters: :messages, :letters, :jobs.
CREATE TEMP TABLE template AS
SELECT m.*, row_number() OVER (ORDER BY m.seq) - 1 AS n FROM pawl_message m WHERE m.kind = 1;
CREATE UNIQUE INDEX temp.template_n ON template (n);
CREATE TEMP TABLE start AS SELECT last_seq AS seq, last_ms AS ms, (SELECT count(*) FROM template) AS streams, j.last_job AS job
  FROM pawl_settings CROSS JOIN pawl_job_state AS j;
CREATE TEMP TABLE number (g INTEGER PRIMARY KEY);
INSERT INTO number WITH RECURSIVE n (g) AS (SELECT 1 UNION ALL SELECT g + 1 FROM n WHERE g < max(:messages, :letters)) SELECT g FROM n;
BEGIN;
DROP INDEX pawl_message_id;
INSERT INTO pawl_message (kind, lane, seq, id, partition, put_ms, stream, topic, type, payload)
SELECT 1, t.lane, s.seq + g, randomblob(16), t.partition, s.ms - 3600000 + g % 3600000, t.stream, 'topic.' || g % 7,
       CASE WHEN g % 50000 = 49999 THEN 'rare.type' ELSE 'order.type' || g % 10 END,
       '{"n":' || g || ',"text":"an order of some length, as they are","amount":' || g % 977 || '}'
  FROM start AS s CROSS JOIN template AS t JOIN number ON g <= :messages AND g % s.streams = t.n ORDER BY t.lane, s.seq + g;
CREATE INDEX pawl_message_id ON pawl_message (id);
DROP INDEX pawl_dead_id;
INSERT INTO pawl_dead (kind, seq, lane, key, attempts, deaths, reason, died_ms, out_of_order, id, partition, put_ms, stream, topic, type,
                  fingerprint, error, payload)
SELECT 1, s.seq + :messages + g, t.lane, t.stream, 5, 0, 1, s.ms - 3600000 + g % 3600000, 0, randomblob(16), t.partition, s.ms - 7200000,
       t.stream, 'topic.' || g % 7, CASE WHEN g % 50000 = 49999 THEN 'rare.type' ELSE 'order.type' || g % 10 END,
       printf('%016x', g % 1000), 'cause ' || g % 1000 || ': the bank is closed', '{"n":' || g || '}'
  FROM number CROSS JOIN start AS s JOIN template AS t ON t.n = g % s.streams WHERE g <= :letters;
CREATE INDEX pawl_dead_id ON pawl_dead (id);
INSERT INTO pawl_history (kind, seq, lane, ended_ms, attempts, deaths, out_of_order, id, partition, put_ms, stream, topic, type, payload)
SELECT 1, s.seq + :messages + :letters + g, t.lane, s.ms - 3600000, 0, 0, 0, randomblob(16), t.partition, s.ms - 7200000, t.stream,
       'topic.' || g % 7, 'order.type' || g % 10, '{}'
  FROM number CROSS JOIN start AS s JOIN template AS t ON t.n = g % s.streams WHERE g <= :jobs;
UPDATE pawl_tally SET put = put + :messages + :letters + :jobs, dead = dead + :letters, failed = failed + :letters, done = done + :jobs WHERE kind = 1;
UPDATE pawl_settings SET last_seq = last_seq + :messages + :letters + :jobs;
CREATE TEMP TABLE job_template AS SELECT * FROM pawl_job LIMIT 1;
INSERT INTO pawl_job
SELECT s.job + g, 1, t.ord + g, t.due_ms, t.put_ms, 0, 0, t.priority, 0, t.max_attempts, t.flags, 0, 0, 0, 0, 0, 0, t.queue,
       'job.' || g % 9, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, t.payload
  FROM number CROSS JOIN start AS s CROSS JOIN job_template AS t WHERE g <= :jobs;
UPDATE pawl_job SET state = 5, reason = 1, died_ms = put_ms + id, error = 'cause ' || id % 500, fingerprint = printf('%016x', id % 500)
 WHERE id > (SELECT job FROM start) AND id % 2 = 0;
UPDATE pawl_job_tally SET ready = (SELECT count(*) FROM pawl_job WHERE state = 1), dead = (SELECT count(*) FROM pawl_job WHERE state = 5), put = put + :jobs;
UPDATE pawl_job_state SET last_job = last_job + :jobs;
-- 30 days of history of as many series as there may be: five kinds, 31 queues, 31 handlers.
INSERT INTO pawl_series (scope, kind, name, ready, dead)
SELECT 1, k.n, '', 100, 5 FROM (SELECT g AS n FROM number WHERE g <= 5) AS k UNION ALL
SELECT 2, 4, 'queue.' || k.n, 10, 1 FROM (SELECT g AS n FROM number WHERE g <= 31) AS k UNION ALL
SELECT 3, 1, 'order.type' || k.n, 10, 1 FROM (SELECT g AS n FROM number WHERE g <= 31) AS k;
INSERT INTO pawl_series_point
SELECT r.step_ms, (s.ms - r.young_ms) / r.step_ms * r.step_ms - p.n * r.step_ms, i.id, p.n % 90, p.n % 7, p.n * 31 % 60000, p.n % 100, p.n % 3,
       0, 0, 0, 0, 0, 0, 0, 0, 0, 0, (p.n * 10) % 17, (p.n * 11) % 18, (p.n * 12) % 19, (p.n * 13) % 20, (p.n * 14) % 21, (p.n * 15) % 22, (p.n * 16) % 23, (p.n * 17) % 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
       0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, (p.n * 13) % 15, (p.n * 14) % 16, (p.n * 15) % 17, (p.n * 16) % 18, (p.n * 17) % 19, (p.n * 18) % 20, (p.n * 19) % 21, (p.n * 20) % 22, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
  FROM (SELECT 10000 AS step_ms, 0 AS young_ms, 360 AS count UNION ALL SELECT 60000, 3600000, 1380 UNION ALL SELECT 900000, 86400000, 2784) AS r
  JOIN (SELECT g AS n FROM number WHERE g <= 2784) AS p ON p.n <= r.count CROSS JOIN start AS s CROSS JOIN pawl_series AS i
 ORDER BY 1, 2, 3;
COMMIT;
DROP TABLE temp.number;
