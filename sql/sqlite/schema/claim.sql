-- claim: claims: which messages are in flight, under which token and lease.

-- What is in flight, one row per claim part, never one per message: items holds seq (8 bytes, little-endian) and id
-- (16 bytes) of each message in the order of seq, marks one byte each: 0 in flight, 1 done, 2 left. marks keeps its
-- size and comes before items, so that reporting one message rewrites one page and not the whole row.
CREATE TABLE pawl_claim (
    token          INTEGER NOT NULL,
    part           INTEGER NOT NULL,
    kind           INTEGER NOT NULL,
    lane           INTEGER NOT NULL,
    instance       BLOB NOT NULL,
    source         INTEGER NOT NULL CHECK (source IN (:SOURCE_MESSAGE, :SOURCE_ASIDE)), -- message, aside
    suspect        INTEGER NOT NULL, -- 0 no, 1 granted, 2 begun
    lost           INTEGER NOT NULL, -- how many of its items had been lost before
    state          INTEGER NOT NULL CHECK (state BETWEEN :CLAIM_ACTIVE AND :CLAIM_EVICTED), -- active, done, expired, evicted
    policy         INTEGER NOT NULL,
    max_attempts   INTEGER NOT NULL,
    began_ms       INTEGER NOT NULL,
    lease_until_ms INTEGER NOT NULL,
    in_flight      INTEGER NOT NULL, -- how many marks are 0
    request        BLOB,
    marks          BLOB, -- NULL: dropped, the part is done
    items          BLOB,
    PRIMARY KEY (token, part)
) STRICT;
CREATE INDEX pawl_claim_lane ON pawl_claim (kind, lane, began_ms) WHERE state = :CLAIM_ACTIVE;
CREATE INDEX pawl_claim_lease ON pawl_claim (kind, lease_until_ms) WHERE state = :CLAIM_ACTIVE;
CREATE INDEX pawl_claim_request ON pawl_claim (request) WHERE request IS NOT NULL;
CREATE INDEX pawl_claim_ended ON pawl_claim (lease_until_ms) WHERE state <> :CLAIM_ACTIVE;

-- The messages in flight, one row each, for people and for the invariants; no operation reads it.
CREATE VIEW pawl_claim_item (token, part, kind, lane, instance, source, suspect, seq, id) AS
WITH RECURSIVE place (token, part, n, size) AS (
    SELECT token, part, 0, length(marks) FROM pawl_claim WHERE state = :CLAIM_ACTIVE AND length(marks) > 0
     UNION ALL
    SELECT token, part, n + 1, size FROM place WHERE n + 1 < size),
item (token, part, kind, lane, instance, source, suspect, seq_hex, id, digits) AS (
    SELECT token, part, kind, lane, instance, source, suspect, hex(substr(items, n * 24 + 1, 8)),
           substr(items, n * 24 + 9, 16), '0123456789ABCDEF'
      FROM place JOIN pawl_claim USING (token, part)
     WHERE substr(marks, n + 1, 1) = x'00')
SELECT token, part, kind, lane, instance, source, suspect,
       ((instr(digits, substr(seq_hex, 1, 1)) - 1) << 4) | ((instr(digits, substr(seq_hex, 2, 1)) - 1) << 0) |
       ((instr(digits, substr(seq_hex, 3, 1)) - 1) << 12) | ((instr(digits, substr(seq_hex, 4, 1)) - 1) << 8) |
       ((instr(digits, substr(seq_hex, 5, 1)) - 1) << 20) | ((instr(digits, substr(seq_hex, 6, 1)) - 1) << 16) |
       ((instr(digits, substr(seq_hex, 7, 1)) - 1) << 28) | ((instr(digits, substr(seq_hex, 8, 1)) - 1) << 24) |
       ((instr(digits, substr(seq_hex, 9, 1)) - 1) << 36) | ((instr(digits, substr(seq_hex, 10, 1)) - 1) << 32) |
       ((instr(digits, substr(seq_hex, 11, 1)) - 1) << 44) | ((instr(digits, substr(seq_hex, 12, 1)) - 1) << 40) |
       ((instr(digits, substr(seq_hex, 13, 1)) - 1) << 52) | ((instr(digits, substr(seq_hex, 14, 1)) - 1) << 48) |
       ((instr(digits, substr(seq_hex, 15, 1)) - 1) << 60) | ((instr(digits, substr(seq_hex, 16, 1)) - 1) << 56),
       id
  FROM item;
