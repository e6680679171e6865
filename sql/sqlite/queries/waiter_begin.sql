-- waiter_begin: note that an instance wants to be woken.
-- params: instance, kinds, until_ms
INSERT INTO pawl_waiter (instance, kinds, until_ms) VALUES (?1, ?2, ?3)
    ON CONFLICT (instance) DO UPDATE SET kinds = excluded.kinds, until_ms = excluded.until_ms
