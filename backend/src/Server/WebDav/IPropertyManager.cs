namespace Sluice.Server.WebDav;

/// <summary>The properties of one kind of item. Thread-safe.</summary>
internal interface IPropertyManager
{
    /// <summary>All defined properties, in listing order.</summary>
    IReadOnlyList<DavProperty> All { get; }

    DavProperty? Find(DavName name);

    /// <summary>Whether clients must not set or remove this property, even if it is not defined.</summary>
    bool IsProtected(DavName name) => true;

    /// <summary>Sets and removes unprotected properties. Applies all changes or none.</summary>
    ValueTask<StoreAnswer> ChangeAsync(IReadOnlyList<PropertyChange> changes, CancellationToken cancellationToken) =>
        ValueTask.FromResult(StoreAnswer.Forbidden);
}

/// <summary>One step of a PROPPATCH.</summary>
/// <param name="Markup">The new element with its tags; null to remove the property.</param>
internal sealed record PropertyChange(DavName Name, string? Markup);
