namespace Sluice.Server.WebDav;

/// <summary>A snapshot of a tree entry for one request, either a file or a collection. Immutable, thread-safe, never disposed.</summary>
internal interface IStoreItem
{
    /// <summary>The name in NFC. The root has a display name.</summary>
    string Name { get; }

    /// <summary>When the item was added to the tree.</summary>
    DateTimeOffset Created { get; }

    /// <summary>When the content last changed. For a collection, when its newest child or the collection itself was created.</summary>
    DateTimeOffset LastModified { get; }

    /// <summary>Whether clients must not replace or delete the item.</summary>
    bool IsReadOnly { get; }

    /// <summary>Whether the item exists only for DELETE and is not found by any other verb.</summary>
    bool IsHidden => false;

    IPropertyManager Properties { get; }
}
