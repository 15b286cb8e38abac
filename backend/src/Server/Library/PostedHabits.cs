using Sluice.Server.Providers;
using Sluice.Usenet.Streams.Proof;

namespace Sluice.Server.Library;

/// <summary>The header fields that a posted file's articles carry (F18). Learned from imports and reads, and stored with the map.</summary>
/// <remarks>Thread-safe and bounded. The file opened longest ago is dropped; its stored habit is loaded again when needed.</remarks>
internal sealed class PostedHabits(LibraryStore store) : ILearnedMemory
{
    private const int MostFiles = 10_000;

    private readonly Lock _gate = new();
    private readonly Dictionary<(string NzbHash, int Ordinal), FileHabit> _files = [];
    private readonly Queue<(string NzbHash, int Ordinal)> _byAge = new();
    private readonly Dictionary<(string NzbHash, int Ordinal), ArticleHabit> _learned = [];

    public string Name => "header fields of posted files";

    /// <summary>Returns the habit of a posted file, which all readers share. <paramref name="nzbHash"/> identifies the NZB.</summary>
    public FileHabit For(string nzbHash, StoredPostedFile stored)
    {
        var file = (nzbHash, stored.Ordinal);
        lock (_gate)
        {
            if (_files.TryGetValue(file, out var known))
                return known;
            _byAge.Enqueue(file);
            while (_byAge.Count > MostFiles)
                _files.Remove(_byAge.Dequeue());
            return _files[file] = new FileHabit(stored.Habit, habit => OnLearned(file, habit));
        }
    }

    /// <summary>Does nothing, because habits are loaded with the rows of their posted files.</summary>
    public Task RestoreAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public async Task SaveAsync(CancellationToken cancellationToken)
    {
        List<(string NzbHash, int Ordinal, ArticleHabit Habit)> learned;
        lock (_gate)
        {
            learned = [.. _learned.Select(file => (file.Key.NzbHash, file.Key.Ordinal, file.Value))];
            _learned.Clear();
        }

        if (learned.Count > 0)
            await store.KeepHabitsAsync(learned, cancellationToken);
    }

    private void OnLearned((string, int) file, ArticleHabit habit)
    {
        lock (_gate)
        {
            // The order of two readers' reports does not matter, because And is commutative.
            _learned[file] = _learned.GetValueOrDefault(file).And(habit);
        }
    }
}
