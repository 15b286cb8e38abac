namespace Sluice.Server.Outbound;

/// <summary>
/// Folders of the tree that have changed since the last notice. Each counts once; beyond <see cref="MaxFolders"/> the notice says
/// that everything may have changed.
/// </summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class ChangedFolders
{
    /// <summary>Folders at a time. A path has some hundred bytes, so a request that names all of them stays below 1 MiB.</summary>
    public const int MaxFolders = 500;

    private readonly Lock _gate = new();
    private readonly HashSet<string> _folders = new(StringComparer.Ordinal);
    private bool _all;

    /// <summary>Notes folders.</summary>
    public void Add(IEnumerable<string> folders)
    {
        lock (_gate)
        {
            if (_all)
                return;
            _folders.UnionWith(folders);
            if (_folders.Count <= MaxFolders)
                return;
            _all = true;
            _folders.Clear();
        }
    }

    /// <summary>Puts back a batch whose notice has failed.</summary>
    public void Return(Batch batch)
    {
        lock (_gate)
            _all |= batch.All;
        Add(batch.Folders);
    }

    /// <summary>Takes all changes, or null when there are none.</summary>
    public Batch? Take()
    {
        lock (_gate)
        {
            if (!_all && _folders.Count == 0)
                return null;
            var batch = new Batch(_all, [.. _folders.Order(StringComparer.Ordinal)]);
            _all = false;
            _folders.Clear();
            return batch;
        }
    }

    /// <summary>What there is to tell at once.</summary>
    /// <param name="All">Whether any folder may have changed.</param>
    /// <param name="Folders">Paths from the root of the tree, without a slash at either end; empty when any may have changed.</param>
    internal sealed record Batch(bool All, IReadOnlyList<string> Folders);
}
