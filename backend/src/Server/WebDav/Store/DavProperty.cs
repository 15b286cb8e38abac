namespace Sluice.Server.WebDav;

/// <summary>A property.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Read">Its value for an item of the kind that it is defined on, as text.</param>
/// <param name="IsMarkup">Whether the value is an element made by this code instead of text.</param>
/// <param name="ByNameOnly">Whether it is left out unless it is asked for by name.</param>
/// <param name="IsWhole">Whether the value is the whole element, its own tags included, as a client has stored it.</param>
/// <param name="SameFor">What items have in common that have the same value within one answer; null: nothing.</param>
internal sealed record DavProperty(
    DavName Name,
    Func<IStoreItem, CancellationToken, ValueTask<string>> Read,
    bool IsMarkup = false,
    bool ByNameOnly = false,
    bool IsWhole = false,
    Func<IStoreItem, object>? SameFor = null)
{
    /// <summary>A property whose value is at hand.</summary>
    public static DavProperty Of(DavName name, Func<IStoreItem, string> read, bool isMarkup = false) =>
        new(name, (item, _) => ValueTask.FromResult(read(item)), isMarkup);
}
