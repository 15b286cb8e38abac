-- What clients filter the history by, so that counting and finding a page reads this and not the wide rows (SAB-6).
CREATE INDEX history_item_filter ON history_item (category, reason, name);
