-- claim: claims: which messages are in flight, under which token and lease, and how far each lane was read.

CREATE SEQUENCE pawl_internal.token_seq AS bigint CACHE 1;

-- What a read of a lane saw, and where the next one must begin so that it misses no late commit (docs/protocol.md). seen:
-- the snapshot; own: the transaction that read, which also saw what it had put itself. A transaction with an id of edge or
-- more draws only numbers above `before`. One that seen did not see draws only numbers above its floor: open_floors for
-- those that it lists, open_floor for those from its xmax up to edge (NULL: there are none).
CREATE TYPE pawl_internal.cursor AS (
    seen pg_snapshot,
    own xid8,
    before bigint,
    edge xid8,
    open_xids xid8[],
    open_floors bigint[],
    open_floor bigint
);

-- A log. The newest claim of a lane (the highest token, its first part) says what has been read there: every message with a
-- seq of at most `at` that its cursor saw; and, while late commits are read in several claims, those of at most old_at
-- that old_seen and old_own saw. A claim of waiting messages is a range: what it has read above start, and the claim before
-- it had not (was_seen, was_own, was_at). seqs is the list instead, once some of it has ended or was split, or when
-- it was not all that was read. A claim without items only moves the cursor. low: every message of the lane that it had not
-- read has a higher seq; mostly it is `at`.
-- state: 1 active, 2 done, 3 expired, 4 evicted. source: 1 message, 2 aside. done_ids NULL: the part ended whole and
-- forgot its list. intact: nothing was taken away from it and it was not split. ids_hash: of all its ids, in any order.
-- turn: the token of the lane's last grant; lanes are visited by it. low_token: no claim of the lane with a lower token is
-- active. No index has the state: a report is then a HOT update, and the entries of ended claims, which a long-open
-- transaction keeps, are not visited.
CREATE TABLE pawl_internal.claim (
    token bigint NOT NULL, -- first what is read of every lane, in the order that is quick to get at
    turn bigint NOT NULL DEFAULT 0,
    low_token bigint NOT NULL DEFAULT 0,
    at bigint NOT NULL DEFAULT 0,
    low bigint NOT NULL DEFAULT 0,
    part integer NOT NULL,
    lane integer NOT NULL,
    kind smallint NOT NULL,
    state smallint NOT NULL DEFAULT 1,
    intact boolean NOT NULL DEFAULT true,
    source smallint NOT NULL DEFAULT :SOURCE_MESSAGE,
    suspect smallint NOT NULL DEFAULT 0, -- 1 granted, 2 begun
    policy smallint NOT NULL DEFAULT 0,
    lost integer NOT NULL DEFAULT 0, -- how many of its items had been lost before
    max_attempts integer NOT NULL DEFAULT 0,
    items integer NOT NULL DEFAULT 0,
    lease_until_ms bigint NOT NULL DEFAULT 0,
    began_ms bigint NOT NULL DEFAULT 0,
    start bigint NOT NULL DEFAULT 0,
    was_at bigint NOT NULL DEFAULT 0,
    instance uuid,
    request uuid,
    ids_hash bigint,
    seqs bigint[],
    done_ids uuid[] DEFAULT '{}',
    was_seen pg_snapshot,
    was_own xid8,
    old_seen pg_snapshot,
    old_own xid8,
    old_at bigint,
    cursor pawl_internal.cursor NOT NULL,
    PRIMARY KEY (token, part)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0);
ALTER TABLE pawl_internal.claim ALTER COLUMN seqs SET STORAGE EXTERNAL;
ALTER TABLE pawl_internal.claim ALTER COLUMN done_ids SET STORAGE EXTERNAL;
CREATE INDEX claim_lane ON pawl_internal.claim (kind, lane, token DESC, part);
CREATE INDEX claim_request ON pawl_internal.claim (request) WHERE request IS NOT NULL;
CREATE INDEX claim_suspect ON pawl_internal.claim (instance) WHERE suspect = :SUSPECT_BEGUN; -- few: cheap to ask before every claim
