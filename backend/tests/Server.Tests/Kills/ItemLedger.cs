using System.Collections.Concurrent;
using Sluice.Server.Tests.EndToEnd;

namespace Sluice.Server.Tests.Kills;

/// <summary>What clients were told about an item.</summary>
internal enum Told
{
    /// <summary>Nothing: its add was sent and never answered, so that it may be there or not.</summary>
    Nothing,

    /// <summary>That it is safe.</summary>
    Kept,

    /// <summary>That it is safe, before its removal was sent and never answered.</summary>
    Leaving,

    /// <summary>That it is removed.</summary>
    Removed,
}

/// <summary>An item as its clients know it. Its name is given to no other one.</summary>
/// <param name="name">Name.</param>
/// <param name="nzb">What was added.</param>
/// <param name="film">What it is published as, or null for one that cannot be.</param>
internal sealed class LedgerItem(string name, byte[] nzb, SyntheticFilm? film)
{
    public string Name => name;

    public byte[] Nzb => nzb;

    public SyntheticFilm? Film => film;

    /// <summary>Its id, where a client was told one.</summary>
    public string? Id { get; set; }

    public Told Told { get; set; }

    /// <summary>Whether its release was published before its history item was removed: mounted content stays.</summary>
    public bool IsForgotten { get; set; }

    /// <summary>Whether a check has compared the stored copy.</summary>
    public bool IsStored { get; set; }

    /// <summary>Whether a check has read all of the film.</summary>
    public bool IsRead { get; set; }
}

/// <summary>Every item that clients have sent, over all kills.</summary>
/// <remarks>Thread-safe; an item belongs to the client that has it in hand.</remarks>
internal sealed class ItemLedger
{
    private readonly ConcurrentDictionary<string, LedgerItem> _items = new();
    private readonly ConcurrentQueue<LedgerItem> _films = new();
    private readonly ConcurrentQueue<LedgerItem> _others = new();

    public IReadOnlyCollection<LedgerItem> Items => [.. _items.Values];

    /// <summary>Notes an item whose add is about to be sent.</summary>
    public LedgerItem Ask(string name, byte[] nzb, SyntheticFilm? film)
    {
        var item = new LedgerItem(name, nzb, film);
        return _items.TryAdd(name, item) ? item : throw new InvalidOperationException($"{name} is the name of two items.");
    }

    /// <summary>Notes that an add was answered.</summary>
    public void Keep(LedgerItem item, string? id)
    {
        (item.Id, item.Told) = (id, Told.Kept);
        if (id is not null)
            PutBack(item);
    }

    /// <summary>Puts an item back that was taken and stays.</summary>
    public void PutBack(LedgerItem item) => (item.Film is null ? _others : _films).Enqueue(item);

    /// <summary>Takes an item with an id that no other client has in hand.</summary>
    /// <param name="isFilm">Whether one that can be published, or one that fails.</param>
    /// <param name="item">The item.</param>
    public bool TryTake(bool isFilm, out LedgerItem item) => (isFilm ? _films : _others).TryDequeue(out item!);

    public LedgerItem? Find(string name) => _items.GetValueOrDefault(name);
}
