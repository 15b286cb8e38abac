-- What the articles of a posted file carry of part number, range and checksum: a packed ArticleHabit, 0 for what is not known yet (F18).
ALTER TABLE posted_file ADD COLUMN habit INTEGER NOT NULL DEFAULT 0;
