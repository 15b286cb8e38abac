namespace Sluice.Server.WebDav;

/// <summary>
/// One entry of the tree as one request sees it: a snapshot, either an <see cref="IStoreFile"/> or an
/// <see cref="IStoreCollection"/>. Immutable, thread-safe, holds nothing that would have to be disposed.
/// </summary>
internal interface IStoreItem
{
    /// <summary>The name within its collection, NFC; for the root the name that is displayed.</summary>
    string Name { get; }

    /// <summary>When it came into the tree.</summary>
    DateTimeOffset Created { get; }

    /// <summary>When its content changed last; for a collection its newest child or its creation.</summary>
    DateTimeOffset LastModified { get; }

    /// <summary>Whether clients may neither replace nor delete it.</summary>
    bool IsReadOnly { get; }

    /// <summary>Whether it is there for DELETE alone, and for every other verb is not.</summary>
    bool IsHidden => false;

    /// <summary>What PROPFIND can say about it.</summary>
    IPropertyManager Properties { get; }
}
