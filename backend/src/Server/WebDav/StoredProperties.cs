using System.Text;

namespace Sluice.Server.WebDav;

/// <summary>A property stored by a client.</summary>
/// <param name="Markup">The element with its tags; the prefix <c>D</c> means <c>DAV:</c>.</param>
internal sealed record StoredProperty(DavName Name, string Markup);

/// <summary>Changes the stored properties of one item. Applies all changes or none.</summary>
internal delegate ValueTask<StoreAnswer> ChangeProperties(IReadOnlyList<PropertyChange> changes, CancellationToken cancellationToken);

/// <summary>The properties of one item: live properties first, then those stored by clients. A thread-safe snapshot.</summary>
internal sealed class StoredProperties : IPropertyManager
{
    /// <summary>Maximum total bytes of an item's stored properties (DAV-47).</summary>
    public const int MaxBytes = 16 * 1024;

    private readonly IPropertyManager _live;
    private readonly IReadOnlyList<StoredProperty> _stored;
    private readonly ChangeProperties _change;

    public StoredProperties(IPropertyManager live, IReadOnlyList<StoredProperty> stored, ChangeProperties change)
    {
        _live = live;
        _stored = stored;
        _change = change;
        All = stored.Count == 0 ? live.All : [.. live.All, .. stored.Select(Show)];
    }

    public IReadOnlyList<DavProperty> All { get; }

    public DavProperty? Find(DavName name) =>
        _live.Find(name) ?? (_stored.FirstOrDefault(property => property.Name == name) is { } found ? Show(found) : null);

    public bool IsProtected(DavName name) => name.Namespace == DavName.DavNamespace || _live.Find(name) is not null;

    public ValueTask<StoreAnswer> ChangeAsync(IReadOnlyList<PropertyChange> changes, CancellationToken cancellationToken) =>
        _change(changes, cancellationToken);

    /// <summary>Returns the stored properties after the changes, oldest first; null if they exceed <see cref="MaxBytes"/>.</summary>
    public static IReadOnlyList<StoredProperty>? Apply(IReadOnlyList<StoredProperty> stored, IReadOnlyList<PropertyChange> changes)
    {
        var result = stored.ToList();
        foreach (var change in changes)
        {
            var at = result.FindIndex(property => property.Name == change.Name);
            if (change.Markup is null)
            {
                if (at >= 0)
                    result.RemoveAt(at);
            }
            else if (at >= 0)
            {
                result[at] = new StoredProperty(change.Name, change.Markup);
            }
            else
            {
                result.Add(new StoredProperty(change.Name, change.Markup));
            }
        }

        return result.Sum(property => (long)Encoding.UTF8.GetByteCount(property.Markup)) <= MaxBytes ? result : null;
    }

    private static DavProperty Show(StoredProperty property) =>
        new(property.Name, (_, _) => ValueTask.FromResult(property.Markup), IsWhole: true);
}
