namespace Sluice.Server.WebDav;

/// <summary>A WebDAV property.</summary>
/// <param name="Name">The expanded name.</param>
/// <param name="Read">Reads the value of an item as text.</param>
/// <param name="IsMarkup">Whether the value is XML made by this code instead of text.</param>
/// <param name="ByNameOnly">Whether it is omitted unless requested by name.</param>
/// <param name="IsWhole">Whether the value is a whole element with its tags, as stored by a client.</param>
/// <param name="SameFor">The key of items that share one value within a response, so that it is read once; null if none do.</param>
internal sealed record DavProperty(
    DavName Name,
    Func<IStoreItem, CancellationToken, ValueTask<string>> Read,
    bool IsMarkup = false,
    bool ByNameOnly = false,
    bool IsWhole = false,
    Func<IStoreItem, object>? SameFor = null)
{
    /// <summary>Creates a property with a synchronous value.</summary>
    public static DavProperty Of(DavName name, Func<IStoreItem, string> read, bool isMarkup = false) =>
        new(name, (item, _) => ValueTask.FromResult(read(item)), isMarkup);
}
