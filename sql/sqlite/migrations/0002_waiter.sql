-- waiter: who wants to be woken when work arrives.
CREATE TABLE pawl_waiter (
    instance BLOB PRIMARY KEY CHECK (length(instance) = 16),
    kinds    INTEGER NOT NULL, -- bits, as in instance
    until_ms INTEGER NOT NULL  -- a wish that nobody renews ends by itself
) STRICT, WITHOUT ROWID;
