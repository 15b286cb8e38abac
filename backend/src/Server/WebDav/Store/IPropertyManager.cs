namespace Sluice.Server.WebDav;

/// <summary>The properties of one kind of item. Thread-safe.</summary>
internal interface IPropertyManager
{
    /// <summary>Everything that is defined, in the order in which a listing writes it.</summary>
    IReadOnlyList<DavProperty> All { get; }

    /// <summary>The property of this name, or null where it is undefined.</summary>
    DavProperty? Find(DavName name);

    /// <summary>Whether clients may neither set nor remove the property of this name, defined or not.</summary>
    bool IsProtected(DavName name) => true;

    /// <summary>Sets and removes properties that are not protected: all of them, or none.</summary>
    ValueTask<StoreAnswer> ChangeAsync(IReadOnlyList<PropertyChange> changes, CancellationToken cancellationToken) =>
        ValueTask.FromResult(StoreAnswer.Forbidden);
}

/// <summary>One step of a PROPPATCH.</summary>
/// <param name="Name">The property.</param>
/// <param name="Markup">Its new element with its own tags, or null to remove it.</param>
internal sealed record PropertyChange(DavName Name, string? Markup);
