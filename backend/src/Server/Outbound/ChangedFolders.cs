namespace Sluice.Server.Outbound;

/// <summary>Collects changed folders until the next notification. Above <see cref="MaxFolders"/>, it reports that any folder may have changed.</summary>
internal sealed class ChangedFolders
{
    /// <summary>Maximum folders, so that a request with paths of some hundred bytes each stays below 1 MiB.</summary>
    public const int MaxFolders = 500;

    private readonly Lock _gate = new();
    private readonly HashSet<string> _folders = new(StringComparer.Ordinal);
    private bool _all;

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

    /// <summary>Takes back a batch whose notification failed, so that it is sent again.</summary>
    public void Return(Batch batch)
    {
        lock (_gate)
            _all |= batch.All;
        Add(batch.Folders);
    }

    /// <summary>Returns and clears all changes; null if there are none.</summary>
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

    /// <summary>The changes for one notification. Paths start at the WebDAV root, without outer slashes. Empty if any folder may have changed.</summary>
    internal sealed record Batch(bool All, IReadOnlyList<string> Folders);
}
