namespace Sluice.Server.WebDav;

/// <summary>A WebDAV property.</summary>
/// <param name="Read">Reads an item's value as text.</param>
/// <param name="IsMarkup">Whether the value is trusted XML created by this server rather than text.</param>
/// <param name="ByNameOnly">Whether the property is omitted unless requested by name.</param>
/// <param name="IsWhole">Whether the value is a complete element with its tags, as stored by a client.</param>
/// <param name="SameFor">Returns a key. Items with equal keys share one value, which a response reads only once. Null if no items share a value.</param>
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
