-- settings_clock: the clock of a new boot.
-- params: clock_base_ms, boot_id
UPDATE pawl_settings SET clock_base_ms = ?1, boot_id = ?2
