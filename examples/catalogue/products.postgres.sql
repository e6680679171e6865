INSERT INTO product (sku, name, price, stock)
SELECT item ->> 'key', item -> 'payload' ->> 'name', (item -> 'payload' ->> 'price')::bigint,
       (item -> 'payload' ->> 'stock')::bigint
FROM jsonb_array_elements($1::jsonb) AS item
ON CONFLICT (sku) DO UPDATE SET name = excluded.name, price = excluded.price, stock = excluded.stock,
                                written = product.written + 1
