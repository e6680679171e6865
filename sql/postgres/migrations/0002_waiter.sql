-- waiter: who wants to be woken when work arrives.
-- Not logged: after a crash nobody waits any more, and every worker asks again.
CREATE UNLOGGED TABLE pawl.waiter (
    instance uuid    PRIMARY KEY,
    kinds    integer NOT NULL, -- bits, as in instance
    until_ms bigint  NOT NULL  -- a wish that nobody renews ends by itself
);
