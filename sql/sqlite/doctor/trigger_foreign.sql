-- trigger_foreign: somebody else put a trigger on a table of pawl's.
SELECT 'trigger ' || s.name || ' on ' || s.tbl_name FROM sqlite_schema s
 WHERE s.type = 'trigger' AND s.tbl_name LIKE 'pawl\_%' ESCAPE '\' AND s.name NOT LIKE 'pawl\_%' ESCAPE '\'
