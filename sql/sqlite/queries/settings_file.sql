-- settings_file: another file.
-- params: file_id
UPDATE pawl_settings SET file_id = ?1
