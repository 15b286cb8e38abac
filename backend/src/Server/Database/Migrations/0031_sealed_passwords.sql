-- Archive passwords of items are sealed. No SQL can do that, so the server does it as it runs: these indices hold the rows that still
-- have theirs in plain text, and are empty afterwards.
CREATE INDEX queue_item_plain ON queue_item (id) WHERE password <> '' AND substr(password, 1, 7) <> 'enc:v1:';
CREATE INDEX history_item_plain ON history_item (id) WHERE password <> '' AND substr(password, 1, 7) <> 'enc:v1:';
