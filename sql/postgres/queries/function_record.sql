-- function_record: notes which texts of the functions are in force.
-- params: names text[], checksums text[]
INSERT INTO pawl.schema_function (name, checksum)
SELECT u.name, u.checksum FROM unnest($1::text[], $2::text[]) AS u(name, checksum)
ON CONFLICT (name) DO UPDATE SET checksum = EXCLUDED.checksum
