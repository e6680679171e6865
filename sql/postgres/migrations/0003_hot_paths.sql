-- hot_paths: what makes a single put cheap, and a claim under a long-open transaction.
-- Until when somebody wants to be woken: one number that a put can look at without opening a table.
CREATE SEQUENCE pawl.wait_seq AS bigint CACHE 1;
SELECT pg_catalog.setval('pawl.wait_seq', 1);

-- A delta names what it changes; the rest is absent instead of nine zeros.
ALTER TABLE pawl.tally
    ALTER put DROP NOT NULL, ALTER put DROP DEFAULT,
    ALTER done DROP NOT NULL, ALTER done DROP DEFAULT,
    ALTER failed DROP NOT NULL, ALTER failed DROP DEFAULT,
    ALTER dead DROP NOT NULL, ALTER dead DROP DEFAULT,
    ALTER aside DROP NOT NULL, ALTER aside DROP DEFAULT,
    ALTER stale DROP NOT NULL, ALTER stale DROP DEFAULT,
    ALTER duplicate DROP NOT NULL, ALTER duplicate DROP DEFAULT,
    ALTER redriven DROP NOT NULL, ALTER redriven DROP DEFAULT,
    ALTER discarded DROP NOT NULL, ALTER discarded DROP DEFAULT;

-- The condition on the instance says nothing (it is never NULL), but only a query for an instance implies it: others
-- must not be planned with this index, which holds an entry of every claim that a long-open transaction keeps.
DROP INDEX pawl.claim_instance;
CREATE INDEX claim_instance ON pawl.claim (instance) WHERE state = 1 AND instance IS NOT NULL;
CREATE INDEX claim_suspect ON pawl.claim (instance) WHERE state = 1 AND suspect = 2; -- few: cheap to ask before every claim
