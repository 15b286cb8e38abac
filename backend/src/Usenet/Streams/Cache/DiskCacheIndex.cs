namespace Sluice.Usenet.Streams.Cache;

/// <summary>The contents of the disk cache in order of use, within its limits.</summary>
/// <remarks>Thread-safe. <c>_gate</c> guards all fields; nothing is called while it is held. Until the scan ends, files on disk may be unlisted.</remarks>
internal sealed class DiskCacheIndex(DiskCacheOptions options)
{
    private readonly Lock _gate = new();
    private readonly Dictionary<DiskKey, LinkedListNode<Entry>> _entries = [];

    // Least recently used first.
    private readonly LinkedList<Entry> _byUse = new();
    private long _bytes;
    private long _mostBytes = options.MaxBytes;
    private bool _isComplete;

    public long Bytes
    {
        get
        {
            lock (_gate)
                return _bytes;
        }
    }

    public int Count
    {
        get
        {
            lock (_gate)
                return _entries.Count;
        }
    }

    public long BytesOf(DiskKey key)
    {
        lock (_gate)
            return _entries.TryGetValue(key, out var node) ? node.Value.Bytes : 0;
    }

    /// <summary>Whether a segment may be on disk; marks it as used.</summary>
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

    public void Written(DiskKey key, long bytes)
    {
        lock (_gate)
        {
            Remove(key);
            _entries[key] = _byUse.AddLast(new Entry(key, bytes));
            _bytes += bytes;
        }
    }

    /// <summary>Adds the scanned files, most recently used first. Files used since startup rank above them.</summary>
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

    public void Removed(DiskKey key)
    {
        lock (_gate)
            Remove(key);
    }

    public void Limit(long bytes)
    {
        lock (_gate)
            _mostBytes = bytes;
    }

    /// <summary>Removes the least recently used file from the index if a limit is exceeded; otherwise returns null.</summary>
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
