using Sluice.Server.Providers;
using Sluice.Usenet.Streams;

namespace Sluice.Server.Library;

/// <summary>
/// What the articles of posted files carry (F18): learned at the import, kept up by all who read a file, and stored with its map.
/// </summary>
/// <remarks>Thread-safe. Bounded: of very many files the one that was opened first is forgotten first, and is opened as it is stored.</remarks>
internal sealed class PostedHabits(LibraryStore store) : ILearnedMemory
{
    private const int MostFiles = 10_000;

    private readonly Lock _gate = new();
    private readonly Dictionary<(string NzbHash, int Ordinal), FileHabit> _files = [];
    private readonly Queue<(string NzbHash, int Ordinal)> _byAge = new();
    private readonly Dictionary<(string NzbHash, int Ordinal), ArticleHabit> _learned = [];

    /// <summary>The habit of a posted file, shared by all who read it.</summary>
    /// <param name="nzbHash">Content id of the NZB that lists it.</param>
    /// <param name="stored">The file.</param>
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
            return _files[file] = new FileHabit(stored.Habit, habit => Learned(file, habit));
        }
    }

    /// <summary>Nothing: each file comes with its habit.</summary>
    public Task RestoreAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc/>
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

    private void Learned((string, int) file, ArticleHabit habit)
    {
        lock (_gate)
        {
            // Two who learn at a time may come in either order.
            _learned[file] = _learned.GetValueOrDefault(file).And(habit);
        }
    }
}
