-- project: what a perspective does with its events.
INSERT INTO total (stream, version, quantity)
SELECT e.value ->> 'stream', max(e.value ->> 'version'), sum(e.value -> 'payload' ->> 'quantity')
  FROM json_each(?1) AS e GROUP BY 1
    ON CONFLICT (stream) DO UPDATE SET version = excluded.version, quantity = quantity + excluded.quantity;
