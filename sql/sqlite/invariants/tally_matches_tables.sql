-- tally_matches_tables: the sums of a kind agree with its tables.
SELECT 'kind ' || kind || ': aside ' || aside || ', dead ' || dead || ', waiting '
           || (put - done - aside - dead - discarded) AS detail
  FROM tally
 WHERE aside <> (SELECT count(*) FROM aside AS a WHERE a.kind = tally.kind)
    OR dead <> (SELECT count(*) FROM dead AS d WHERE d.kind = tally.kind)
    OR put - done - aside - dead - discarded <> (SELECT count(*) FROM message AS m WHERE m.kind = tally.kind)
