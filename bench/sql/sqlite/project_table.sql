-- project_table: the read model and, for the floor, how far it is.
CREATE TABLE total (stream TEXT PRIMARY KEY, version INTEGER NOT NULL, quantity INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE cursor (position INTEGER NOT NULL) STRICT;
INSERT INTO cursor VALUES (0);
