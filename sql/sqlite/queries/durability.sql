-- durability: what the file promises of a commit that was acknowledged.
SELECT 'journal_mode=' || m.journal_mode || ' synchronous=' ||
       CASE s.synchronous WHEN 0 THEN 'off' WHEN 1 THEN 'normal' WHEN 2 THEN 'full' ELSE 'extra' END, s.synchronous >= 2
  FROM pragma_journal_mode m, pragma_synchronous s
