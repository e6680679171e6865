INSERT INTO product (sku, name, price, stock)
SELECT json_extract(value, '$.key'), json_extract(value, '$.payload.name'), json_extract(value, '$.payload.price'),
       json_extract(value, '$.payload.stock')
FROM json_each(?1)
WHERE true
ON CONFLICT (sku) DO UPDATE SET name = excluded.name, price = excluded.price, stock = excluded.stock,
                                written = product.written + 1
