-- schema_foreign: what an application has named as pawl names its own; asked before there is a schema.
SELECT group_concat(name, ', ') FROM (SELECT name FROM sqlite_schema WHERE name LIKE 'pawl\_%' ESCAPE '\' ORDER BY name LIMIT 10)
