CREATE TABLE product (
    sku text PRIMARY KEY,
    name text NOT NULL,
    price bigint NOT NULL,
    stock bigint NOT NULL,
    written bigint NOT NULL DEFAULT 1
);
