using System.Diagnostics.CodeAnalysis;

namespace Sluice.Usenet.Primitives;

/// <summary>A map that forgets: an entry older than a bound is not found any more, and where there are too many, the oldest makes room.</summary>
/// <remarks>Not thread-safe: a part of its owner's state, under the lock of that.</remarks>
/// <param name="most">Entries at most.</param>
/// <param name="longest">How long an entry is found.</param>
/// <param name="time">Clock.</param>
internal sealed class AgingMap<TKey, TValue>(int most, TimeSpan longest, TimeProvider time)
    where TKey : notnull
{
    private readonly Dictionary<TKey, LinkedListNode<Entry>> _entries = [];

    // The oldest in front.
    private readonly LinkedList<Entry> _byAge = new();

    /// <summary>Finds an entry.</summary>
    /// <param name="key">Its key.</param>
    /// <param name="value">Its value.</param>
    /// <param name="since">When it was set, as a timestamp of the clock.</param>
    /// <returns>False where there is none, or one that is too old.</returns>
    public bool TryGet(TKey key, [MaybeNullWhen(false)] out TValue value, out long since)
    {
        var isFound = _entries.TryGetValue(key, out var node) && IsFresh(node.Value);
        (value, since) = isFound ? (node!.Value.Value, node.Value.Since) : (default, default);
        return isFound;
    }

    /// <summary>Sets an entry, which is the youngest now, and forgets those that are too old or too many.</summary>
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

    /// <summary>Removes an entry, if there is one.</summary>
    public void Remove(TKey key)
    {
        if (_entries.Remove(key, out var node))
            _byAge.Remove(node);
    }

    /// <summary>Adds an entry that is older than all others.</summary>
    /// <returns>False where the key is there already, or there is no room.</returns>
    public bool TryAddOldest(TKey key, TValue value, long since)
    {
        if (_entries.Count >= most || _entries.ContainsKey(key))
            return false;
        _entries.Add(key, _byAge.AddFirst(new Entry(key, value, since)));
        return true;
    }

    /// <summary>All entries that are found, the oldest first.</summary>
    public IEnumerable<(TKey Key, TValue Value, long Since)> All() =>
        _byAge.Where(IsFresh).Select(static entry => (entry.Key, entry.Value, entry.Since));

    private bool IsFresh(Entry entry) => time.GetElapsedTime(entry.Since) < longest;

    private readonly record struct Entry(TKey Key, TValue Value, long Since);
}
