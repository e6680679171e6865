-- claim: claims: which messages are in flight, under which token and lease.

CREATE SEQUENCE pawl_internal.token_seq AS bigint CACHE 1;

-- state: 1 active, 2 done, 3 expired, 4 evicted.
-- source: 1 message, 2 aside. done_ids NULL: the part ended whole and forgot its lists.
-- intact: nothing was taken away from it and it was not split.
CREATE TABLE pawl_internal.claim (
    token bigint NOT NULL,
    part integer NOT NULL,
    kind smallint NOT NULL,
    lane integer NOT NULL,
    instance uuid NOT NULL,
    source smallint NOT NULL,
    suspect smallint NOT NULL DEFAULT 0, -- 1 granted, 2 begun
    lost integer NOT NULL DEFAULT 0, -- how many of its items had been lost before
    intact boolean NOT NULL DEFAULT true,
    state smallint NOT NULL DEFAULT 1,
    policy smallint NOT NULL,
    max_attempts integer NOT NULL,
    lease_until_ms bigint NOT NULL,
    began_ms bigint NOT NULL,
    request uuid,
    seqs bigint[],
    done_ids uuid[] DEFAULT '{}',
    PRIMARY KEY (token, part)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0);
ALTER TABLE pawl_internal.claim ALTER COLUMN seqs SET STORAGE EXTERNAL;
ALTER TABLE pawl_internal.claim ALTER COLUMN done_ids SET STORAGE EXTERNAL;
CREATE INDEX claim_active ON pawl_internal.claim (kind, lane, token) WHERE state = :CLAIM_ACTIVE;
CREATE INDEX claim_request ON pawl_internal.claim (request) WHERE request IS NOT NULL AND state = :CLAIM_ACTIVE;

-- The condition on the instance says nothing (it is never NULL), but only a query for an instance implies it: others
-- must not be planned with this index, which holds an entry of every claim that a long-open transaction keeps.
CREATE INDEX claim_instance ON pawl_internal.claim (instance) WHERE state = :CLAIM_ACTIVE AND instance IS NOT NULL;
CREATE INDEX claim_suspect ON pawl_internal.claim (instance) WHERE state = :CLAIM_ACTIVE AND suspect = :SUSPECT_BEGUN; -- few: cheap to ask before every claim
