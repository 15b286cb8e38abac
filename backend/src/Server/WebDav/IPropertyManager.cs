namespace Sluice.Server.WebDav;

/// <summary>The properties of one kind of item. Thread-safe.</summary>
internal interface IPropertyManager
{
    /// <summary>Everything that is defined, in the order in which a listing writes it.</summary>
    IReadOnlyList<DavProperty> All { get; }

    /// <summary>The property of this name, or null where it is undefined.</summary>
    DavProperty? Find(DavName name);
}
