namespace Sluice.Usenet.Streams.Cache;

/// <summary>What the disk cache holds, by last use, within its ceilings.</summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> guards all fields; nothing is called under it. Until the folder has been looked through, a segment that is
/// not listed may be there all the same.
/// </remarks>
internal sealed class DiskCacheIndex(DiskCacheOptions options)
{
    private readonly Lock _gate = new();
    private readonly Dictionary<DiskKey, LinkedListNode<Entry>> _entries = [];

    // The least recently used first.
    private readonly LinkedList<Entry> _byUse = new();
    private long _bytes;
    private long _mostBytes = options.MaxBytes;
    private bool _isComplete;

    /// <summary>Bytes of all files.</summary>
    public long Bytes
    {
        get
        {
            lock (_gate)
                return _bytes;
        }
    }

    /// <summary>Number of files.</summary>
    public int Count
    {
        get
        {
            lock (_gate)
                return _entries.Count;
        }
    }

    /// <summary>Bytes of a file; 0 for none.</summary>
    public long BytesOf(DiskKey key)
    {
        lock (_gate)
            return _entries.TryGetValue(key, out var node) ? node.Value.Bytes : 0;
    }

    /// <summary>Whether it is worth looking for a segment; it counts as used.</summary>
    public bool MayHold(DiskKey key)
    {
        lock (_gate)
        {
            if (!_entries.TryGetValue(key, out var node))
                return !_isComplete;
            _byUse.Remove(node);
            _byUse.AddLast(node);
            return true;
        }
    }

    /// <summary>A file has been written.</summary>
    public void Written(DiskKey key, long bytes)
    {
        lock (_gate)
        {
            Remove(key);
            _entries[key] = _byUse.AddLast(new Entry(key, bytes));
            _bytes += bytes;
        }
    }

    /// <summary>The folder has been looked through: its files count as used before any that was used since the start.</summary>
    /// <param name="found">The files, the most recently used first.</param>
    public void Complete(IEnumerable<(DiskKey Key, long Bytes)> found)
    {
        lock (_gate)
        {
            foreach (var (key, bytes) in found)
            {
                if (_entries.ContainsKey(key))
                    continue;
                _entries[key] = _byUse.AddFirst(new Entry(key, bytes));
                _bytes += bytes;
            }

            _isComplete = true;
        }
    }

    /// <summary>A file is gone.</summary>
    public void Removed(DiskKey key)
    {
        lock (_gate)
            Remove(key);
    }

    /// <summary>Changes how many bytes the files may have.</summary>
    public void Limit(long bytes)
    {
        lock (_gate)
            _mostBytes = bytes;
    }

    /// <summary>Takes one file off the list that has to go so that the ceilings hold; null when they do.</summary>
    public DiskKey? TakeSurplus()
    {
        lock (_gate)
        {
            if (_byUse.First is not { } oldest || (_bytes <= _mostBytes && _entries.Count <= options.MaxFiles))
                return null;
            Remove(oldest.Value.Key);
            return oldest.Value.Key;
        }
    }

    private void Remove(DiskKey key)
    {
        if (!_entries.Remove(key, out var node))
            return;
        _byUse.Remove(node);
        _bytes -= node.Value.Bytes;
    }

    private readonly record struct Entry(DiskKey Key, long Bytes);
}
