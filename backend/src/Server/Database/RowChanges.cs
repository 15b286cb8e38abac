using Microsoft.Data.Sqlite;

namespace Sluice.Server.Database;

/// <summary>A table whose changes are reported after each commit. A composite key is joined with slashes.</summary>
/// <remarks><c>Tell</c> receives the keys of changed rows and of deleted rows. It must not block, because it runs between two transactions.</remarks>
internal sealed record WatchedTable(string Name, IReadOnlyList<string> Key, Action<IReadOnlyList<string>, IReadOnlyList<string>> Tell);

/// <summary>
/// Triggers record the changed rows of watched tables, so that stores need not report changes and rolled-back ones are never reported. Not thread-safe; only
/// the writer's loop uses it.
/// </summary>
internal sealed class RowChanges
{
    private readonly IReadOnlyList<WatchedTable> _tables;
    private readonly List<Note> _notes = [];

    public RowChanges(SqliteConnection connection, IReadOnlyList<WatchedTable> tables)
    {
        _tables = tables;
        if (tables.Count == 0)
            return;
        connection.CreateFunction(
            SqlDialect.NoteRow,
            (long table, string key, long isGone) =>
            {
                _notes.Add(new Note((int)table, key, isGone != 0));
                return 0L;
            });
        using var command = connection.CreateCommand();
        command.CommandText = string.Concat(tables.Select((table, i) => SqlDialect.WatchRows(table.Name, table.Key, i)));
        command.ExecuteNonQuery();
    }

    public int Count => _notes.Count;

    /// <summary>Discards the changes since <paramref name="count"/>, because they were rolled back.</summary>
    public void RollBackTo(int count) => _notes.RemoveRange(count, _notes.Count - count);

    public void Tell()
    {
        foreach (var table in _notes.GroupBy(note => note.Table))
        {
            // Last write wins: a row deleted and re-inserted counts as changed.
            var last = new Dictionary<string, bool>();
            foreach (var note in table)
                last[note.Key] = note.IsGone;
            _tables[table.Key].Tell([.. last.Where(row => !row.Value).Select(row => row.Key)], [.. last.Where(row => row.Value).Select(row => row.Key)]);
        }

        _notes.Clear();
    }

    private readonly record struct Note(int Table, string Key, bool IsGone);
}
