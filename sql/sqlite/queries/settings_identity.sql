-- settings_identity: which boot and which file the settings belong to.
SELECT boot_id, file_id, last_ms FROM pawl_settings
