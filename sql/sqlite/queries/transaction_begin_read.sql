-- transaction_begin_read: begin a consistent read.
BEGIN
