-- How many files and segments the NZB of an item lists; null until it has been read. Items of before are read after the start.
ALTER TABLE queue_item ADD COLUMN files INTEGER;
ALTER TABLE queue_item ADD COLUMN segments INTEGER;
ALTER TABLE removed_queue_item ADD COLUMN files INTEGER;
ALTER TABLE removed_queue_item ADD COLUMN segments INTEGER;
