"""Fills the database of a stopped server: 10,000 items in the queue, 100,000 in the history, 50,000 files. python3 fill.py sluice.db

The files are copies of the only release under other names. The server normalizes names for its search; for these names it is enough to turn
dots, dashes and slashes into spaces.
"""

import sqlite3
import sys
import uuid

QUEUED, ENDED, RELEASES, FILES = 10_000, 100_000, 5_000, 10
NOW = 1_790_000_000_000


def fold(name):
    return name.lower().replace(".", " ").replace("-", " ").replace("/", " ")


def insert(table, rows):
    marks = ", ".join(":" + name for name in rows[0])
    db.executemany(f"INSERT INTO {table} ({', '.join(rows[0])}) VALUES ({marks})", rows)


db = sqlite3.connect(sys.argv[1])
db.create_function("fold_text", 1, fold)
db.execute("DELETE FROM queue_item")

shared = {"folder": "tv", "priority": 0, "password": "", "post_processing": 3, "script": "None"}
episodes = [f"The.Show.S{number // 100:03}E{number % 100:02}.1080p.WEB.h264-GRP" for number in range(ENDED)]
insert("history_item", [
    shared | {
        "id": f"SABnzbd_nzo_{uuid.uuid4().hex}", "name": name, "nzb_name": name + ".nzb", "category": ("tv", "movies")[number % 2],
        "nzb_hash": None, "encoded_bytes": 8_000_000_000 + number, "bytes": 7_000_000_000 + number,
        "reason": None if number % 50 else "DeadPost", "fail_message": "" if number % 50 else "The post is gone.",
        "added_at": NOW + number * 1000, "started_at": NOW + number * 1000, "completed_at": NOW + number * 1000 + 500,
        "steps": "[]", "folded": fold(name),
    }
    for number, name in enumerate(episodes)
])
insert("queue_item", [
    shared | {
        "id": f"SABnzbd_nzo_{uuid.uuid4().hex}", "position": number + 1, "name": "Next." + name, "nzb_name": name + ".nzb",
        "category": ("tv", "movies")[number % 2], "paused": 0, "nzb_length": 1000, "encoded_bytes": 8_000_000_000 + number,
        "added_at": NOW, "nzb_hash": f"{number:064x}", "folded": fold("Next." + name),
    }
    for number, name in enumerate(episodes[:QUEUED])
])

release, nzb_hash = db.execute("SELECT id, nzb_hash FROM release LIMIT 1").fetchone()
copied = [name for _, name, *_ in db.execute("PRAGMA table_info(posted_file)") if name != "release_id"]
parts = db.execute(f"SELECT {', '.join(copied)} FROM posted_file WHERE release_id = ?", (release,)).fetchall()
length, content = db.execute("SELECT length, content FROM library_file WHERE release_id = ? LIMIT 1", (release,)).fetchone()
for number in range(RELEASES):
    name = f"The.Series.S{number // 100:03}E{number % 100:02}.1080p.WEB.h264-GRP"
    made = db.execute(
        "INSERT INTO release (category, name, nzb_hash, published_at, folded) VALUES ('tv', ?, ?, ?, ?)", (name, nzb_hash, NOW + number, fold(name))
    ).lastrowid
    insert("posted_file", [{"release_id": made} | dict(zip(copied, part)) for part in parts])
    insert("library_file", [
        {
            "id": str(uuid.uuid4()), "release_id": made, "path_key": path, "length": length, "etag": uuid.uuid4().hex, "content": content,
            "folded": fold(name + "/" + path), "category": "tv", "published_at": NOW + number,
        }
        for path in (f"part.{part:02}.mkv" for part in range(FILES))
    ])
db.commit()
