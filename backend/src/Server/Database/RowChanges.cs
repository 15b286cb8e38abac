using Microsoft.Data.Sqlite;

namespace Sluice.Server.Database;

/// <summary>A table whose changes are told after each commit, whatever has made them.</summary>
/// <param name="Name">Name of the table.</param>
/// <param name="Key">Columns of text that name a row; several are joined by a slash.</param>
/// <param name="Tell">
/// Gets the keys of rows that are new or other ones, and of rows that are gone. Runs between two transactions, so that it waits for nothing.
/// </param>
internal sealed record WatchedTable(string Name, IReadOnlyList<string> Key, Action<IReadOnlyList<string>, IReadOnlyList<string>> Tell);

/// <summary>
/// Notes which rows of watched tables a transaction changes, by triggers of the writing connection, so that no store has to tell by itself
/// and nothing is told that is not on disk.
/// </summary>
/// <remarks>Not thread-safe: of the loop that writes alone.</remarks>
internal sealed class RowChanges
{
    private readonly IReadOnlyList<WatchedTable> _tables;
    private readonly List<Note> _notes = [];

    /// <summary>Watches the tables of a connection, the only one that writes.</summary>
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

    /// <summary>How much is noted so far.</summary>
    public int Count => _notes.Count;

    /// <summary>Forgets what was noted since, because it was taken back.</summary>
    /// <param name="count">The <see cref="Count"/> of before.</param>
    public void TakeBack(int count) => _notes.RemoveRange(count, _notes.Count - count);

    /// <summary>The transaction is on disk: tells what it has changed.</summary>
    public void Tell()
    {
        foreach (var table in _notes.GroupBy(note => note.Table))
        {
            // What became of a row last is what is true of it.
            var last = new Dictionary<string, bool>();
            foreach (var note in table)
                last[note.Key] = note.IsGone;
            _tables[table.Key].Tell([.. last.Where(row => !row.Value).Select(row => row.Key)], [.. last.Where(row => row.Value).Select(row => row.Key)]);
        }

        _notes.Clear();
    }

    private readonly record struct Note(int Table, string Key, bool IsGone);
}
