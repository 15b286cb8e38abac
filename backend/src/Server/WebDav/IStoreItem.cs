namespace Sluice.Server.WebDav;

/// <summary>
/// A snapshot of one tree entry for one request: an <see cref="IStoreFile"/> or an <see cref="IStoreCollection"/>. Immutable, thread-safe, nothing to
/// dispose.
/// </summary>
internal interface IStoreItem
{
    /// <summary>The name in NFC; for the root a display name.</summary>
    string Name { get; }

    /// <summary>When the item was added to the tree.</summary>
    DateTimeOffset Created { get; }

    /// <summary>When the content last changed; for a collection the date of its newest child or its creation.</summary>
    DateTimeOffset LastModified { get; }

    /// <summary>Whether clients must not replace or delete it.</summary>
    bool IsReadOnly { get; }

    /// <summary>Whether only DELETE can see it; all other verbs answer as if it did not exist.</summary>
    bool IsHidden => false;

    IPropertyManager Properties { get; }
}
