-- project: what a perspective does with its events.
INSERT INTO total (stream, version, quantity)
SELECT stream, max(version), sum(payload ->> 'quantity') FROM event_rows(?1) GROUP BY 1
    ON CONFLICT (stream) DO UPDATE SET version = excluded.version, quantity = quantity + excluded.quantity;
