-- run_children_match: a run counts its open children, and no fewer failed ones than there are.
SELECT 'run ' || r.id || ' counts ' || r.children_open || ' open and ' || r.children_failed || ' failed children' FROM pawl_run r
 WHERE r.children_open <> (SELECT count(*) FROM pawl_run c WHERE c.parent = r.id AND c.state < 5)
    OR r.children_failed < (SELECT count(*) FROM pawl_run c WHERE c.parent = r.id AND c.state > 5)
