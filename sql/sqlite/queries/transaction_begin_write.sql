-- transaction_begin_write: begin as the one writer.
BEGIN IMMEDIATE
