-- The read models of the example; the same for SQLite and PostgreSQL.
CREATE TABLE order_total (stream TEXT PRIMARY KEY, version BIGINT NOT NULL, amount BIGINT NOT NULL);
CREATE TABLE stock (sku TEXT NOT NULL PRIMARY KEY, quantity BIGINT NOT NULL);
CREATE TABLE event_count (type TEXT PRIMARY KEY, count BIGINT NOT NULL);
