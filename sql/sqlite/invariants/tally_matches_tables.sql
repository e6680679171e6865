-- tally_matches_tables: the sums of a kind agree with its tables.
SELECT 'kind ' || kind || ': aside ' || aside || ', dead ' || dead || ', waiting '
           || (put - done - aside - dead - discarded) AS detail
  FROM pawl_tally
 WHERE aside <> (SELECT count(*) FROM pawl_aside AS a WHERE a.kind = pawl_tally.kind)
    OR dead <> (SELECT count(*) FROM pawl_dead AS d WHERE d.kind = pawl_tally.kind)
    OR put - done - aside - dead - discarded <> (SELECT count(*) FROM pawl_message AS m WHERE m.kind = pawl_tally.kind)
