using Sluice.Server.Providers;
using Sluice.Usenet.Streams.Proof;

namespace Sluice.Server.Library;

/// <summary>Which header fields the articles of posted files carry (F18). Learned on import and on each read; stored with the map.</summary>
/// <remarks>Thread-safe. Bounded: the file opened first is dropped and later starts again from its stored habit.</remarks>
internal sealed class PostedHabits(LibraryStore store) : ILearnedMemory
{
    private const int MostFiles = 10_000;

    private readonly Lock _gate = new();
    private readonly Dictionary<(string NzbHash, int Ordinal), FileHabit> _files = [];
    private readonly Queue<(string NzbHash, int Ordinal)> _byAge = new();
    private readonly Dictionary<(string NzbHash, int Ordinal), ArticleHabit> _learned = [];

    public string Name => "header fields of posted files";

    /// <summary>The habit of a posted file, shared by all its readers. <paramref name="nzbHash"/> identifies the NZB.</summary>
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

    /// <summary>Does nothing, because habits are read with the rows of their posted files.</summary>
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
            // Two readers may report in either order. And is commutative, so the order does not matter.
            _learned[file] = _learned.GetValueOrDefault(file).And(habit);
        }
    }
}
