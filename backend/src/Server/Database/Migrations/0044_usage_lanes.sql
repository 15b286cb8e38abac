-- What the bytes of provider_usage were for (OPS-42). The rest of them is other traffic: logins, keep-alives, tests of accounts, and all bytes of days before
-- these columns.
ALTER TABLE provider_usage ADD COLUMN playback INTEGER NOT NULL DEFAULT 0;
ALTER TABLE provider_usage ADD COLUMN import INTEGER NOT NULL DEFAULT 0;
ALTER TABLE provider_usage ADD COLUMN checks INTEGER NOT NULL DEFAULT 0;
