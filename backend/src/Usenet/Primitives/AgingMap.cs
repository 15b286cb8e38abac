using System.Diagnostics.CodeAnalysis;

namespace Sluice.Usenet.Primitives;

/// <summary>A map whose entries expire after a time limit. If the map is full, adding an entry drops the oldest one.</summary>
/// <remarks>Not thread-safe; the owner guards it with its own lock.</remarks>
internal sealed class AgingMap<TKey, TValue>(int most, TimeSpan longest, TimeProvider time)
    where TKey : notnull
{
    private readonly Dictionary<TKey, LinkedListNode<Entry>> _entries = [];

    // Oldest first.
    private readonly LinkedList<Entry> _byAge = new();

    /// <summary>Finds an unexpired entry. <paramref name="since"/> is the timestamp of its last <see cref="Set"/>.</summary>
    public bool TryGet(TKey key, [MaybeNullWhen(false)] out TValue value, out long since)
    {
        var isFound = _entries.TryGetValue(key, out var node) && IsFresh(node.Value);
        (value, since) = isFound ? (node!.Value.Value, node.Value.Since) : (default, default);
        return isFound;
    }

    /// <summary>Sets an entry, which becomes the newest, and drops expired entries and the oldest ones above the limit.</summary>
    public void Set(TKey key, TValue value)
    {
        if (_entries.TryGetValue(key, out var before))
            _byAge.Remove(before);
        _entries[key] = _byAge.AddLast(new Entry(key, value, time.GetTimestamp()));
        while (_byAge.First is { Value: var oldest } && (_entries.Count > most || !IsFresh(oldest)))
        {
            _byAge.RemoveFirst();
            _entries.Remove(oldest.Key);
        }
    }

    public void Remove(TKey key)
    {
        if (_entries.Remove(key, out var node))
            _byAge.Remove(node);
    }

    /// <summary>Adds an entry as the oldest one; false if the key exists or the map is full.</summary>
    public bool TryAddOldest(TKey key, TValue value, long since)
    {
        if (_entries.Count >= most || _entries.ContainsKey(key))
            return false;
        _entries.Add(key, _byAge.AddFirst(new Entry(key, value, since)));
        return true;
    }

    /// <summary>Returns the unexpired entries, oldest first.</summary>
    public IEnumerable<(TKey Key, TValue Value, long Since)> All() =>
        _byAge.Where(IsFresh).Select(static entry => (entry.Key, entry.Value, entry.Since));

    private bool IsFresh(Entry entry) => time.GetElapsedTime(entry.Since) < longest;

    private readonly record struct Entry(TKey Key, TValue Value, long Since);
}
