-- The sum of the lengths of all library files, which clients ask for with each folder (quota-used-bytes). Kept by the transactions
-- that change the files; releases take theirs with them by the same trigger. One row.
CREATE TABLE library_total (
  bytes INTEGER NOT NULL
) STRICT;

INSERT INTO library_total SELECT coalesce(sum(length), 0) FROM library_file;

CREATE TRIGGER library_file_comes AFTER INSERT ON library_file
BEGIN
  UPDATE library_total SET bytes = bytes + NEW.length;
END;

CREATE TRIGGER library_file_leaves AFTER DELETE ON library_file
BEGIN
  UPDATE library_total SET bytes = bytes - OLD.length;
END;

CREATE TRIGGER library_file_changes AFTER UPDATE OF length ON library_file
BEGIN
  UPDATE library_total SET bytes = bytes - OLD.length + NEW.length;
END;
