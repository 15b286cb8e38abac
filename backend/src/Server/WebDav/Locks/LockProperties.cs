namespace Sluice.Server.WebDav;

/// <summary>The properties of an item where locks are served: its own, then what locks it and what could.</summary>
internal sealed class LockProperties : IPropertyManager
{
    private static readonly DavProperty Supported =
        DavProperty.Of(DavName.Dav("supportedlock"), _ => LockMarkup.Supported, isMarkup: true);

    private readonly IPropertyManager _own;
    private readonly DavProperty _discovery;

    /// <summary>Puts the locks of a place beside the properties of what stands there.</summary>
    public LockProperties(IPropertyManager own, LockKey key, ILockingManager locks)
    {
        _own = own;
        _discovery = DavProperty.Of(
            DavName.Dav("lockdiscovery"), _ => LockMarkup.Discovery(locks.Covering(key), locks), isMarkup: true);
        All = [.. own.All, Supported, _discovery];
    }

    /// <inheritdoc />
    public IReadOnlyList<DavProperty> All { get; }

    /// <inheritdoc />
    public DavProperty? Find(DavName name)
    {
        if (name == Supported.Name)
            return Supported;
        return name == _discovery.Name ? _discovery : _own.Find(name);
    }
}
