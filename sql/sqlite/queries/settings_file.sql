-- settings_file: another file.
-- params: file_id
UPDATE settings SET file_id = ?1
