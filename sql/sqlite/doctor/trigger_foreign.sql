-- trigger_foreign: somebody else put a trigger on a table.
SELECT 'trigger ' || s.name || ' on ' || s.tbl_name FROM sqlite_schema s
 WHERE s.type = 'trigger' AND s.name NOT IN ('checkpoint_counted', 'checkpoint_counted_new', 'dead_counted_new', 'dead_counted_gone',
                                            'job_dead_counted_new', 'job_dead_counted_back', 'job_dead_counted_gone')
