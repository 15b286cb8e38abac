using System.Collections.Concurrent;
using Sluice.Server.Tests.EndToEnd;

namespace Sluice.Server.Tests.Kills;

/// <summary>The answers that clients got about an item.</summary>
internal enum Told
{
    /// <summary>No answer to its add, so the item may exist or not.</summary>
    Nothing,

    /// <summary>The item is stored.</summary>
    Kept,

    /// <summary>The item was stored; its removal has no answer yet.</summary>
    Leaving,

    /// <summary>The item is removed.</summary>
    Removed,
}

/// <summary>An item as its clients know it. Its name is unique.</summary>
/// <param name="name">Name.</param>
/// <param name="nzb">The added NZB.</param>
/// <param name="film">The film that it is published as, or null if its import must fail.</param>
internal sealed class LedgerItem(string name, byte[] nzb, SyntheticFilm? film)
{
    public string Name => name;

    public byte[] Nzb => nzb;

    public SyntheticFilm? Film => film;

    /// <summary>Its id, if a client got one.</summary>
    public string? Id { get; set; }

    public Told Told { get; set; }

    /// <summary>Whether its history item was removed after its release was published, so the mounted content must stay.</summary>
    public bool IsForgotten { get; set; }

    /// <summary>Whether a check has compared the stored NZB.</summary>
    public bool IsStored { get; set; }

    /// <summary>Whether a check has read the whole film.</summary>
    public bool IsRead { get; set; }
}

/// <summary>Every item that clients have sent, across all kills.</summary>
/// <remarks>Thread-safe; a client that takes an item owns it.</remarks>
internal sealed class ItemLedger
{
    private readonly ConcurrentDictionary<string, LedgerItem> _items = new();
    private readonly ConcurrentQueue<LedgerItem> _films = new();
    private readonly ConcurrentQueue<LedgerItem> _others = new();

    public IReadOnlyCollection<LedgerItem> Items => [.. _items.Values];

    /// <summary>Records an item before its add is sent.</summary>
    public LedgerItem Ask(string name, byte[] nzb, SyntheticFilm? film)
    {
        var item = new LedgerItem(name, nzb, film);
        return _items.TryAdd(name, item) ? item : throw new InvalidOperationException($"{name} is the name of two items.");
    }

    /// <summary>Records the answer to an add.</summary>
    public void Keep(LedgerItem item, string? id)
    {
        (item.Id, item.Told) = (id, Told.Kept);
        if (id is not null)
            PutBack(item);
    }

    /// <summary>Returns a taken item, for other clients to take.</summary>
    public void PutBack(LedgerItem item) => (item.Film is null ? _others : _films).Enqueue(item);

    /// <summary>Takes an item with an id that no other client owns.</summary>
    /// <param name="isFilm">Whether to take an item that can be published, or one whose import fails.</param>
    /// <param name="item">The item.</param>
    public bool TryTake(bool isFilm, out LedgerItem item) => (isFilm ? _films : _others).TryDequeue(out item!);

    public LedgerItem? Find(string name) => _items.GetValueOrDefault(name);
}
