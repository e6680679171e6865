-- function_list: what is known of the functions in the schema.
SELECT f.name, f.checksum FROM pawl.schema_function f ORDER BY f.name
