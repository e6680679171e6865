-- function_record: notes which text of a function is in force.
-- params: name text, checksum text
INSERT INTO pawl.schema_function (name, checksum) VALUES ($1::text, $2::text)
ON CONFLICT (name) DO UPDATE SET checksum = EXCLUDED.checksum
