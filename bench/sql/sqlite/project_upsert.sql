-- project_upsert: one event into the read model.
INSERT INTO total (stream, version, quantity) VALUES (?1, ?2, ?3 ->> 'quantity')
    ON CONFLICT (stream) DO UPDATE SET version = excluded.version, quantity = quantity + excluded.quantity
