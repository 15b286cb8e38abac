using System.Buffers;
using System.Globalization;
using System.Text;
using Sluice.Server.WebDav.Xml;

namespace Sluice.Server.WebDav.Locks;

/// <summary>The properties of a lockable item: its own, then <c>supportedlock</c> and <c>lockdiscovery</c>.</summary>
internal sealed class LockProperties : IPropertyManager
{
    private static readonly DavProperty Supported =
        DavProperty.Of(DavName.Dav("supportedlock"), _ => LockMarkup.Supported, isMarkup: true);

    private readonly IPropertyManager _own;
    private readonly DavProperty _discovery;

    public LockProperties(IPropertyManager own, LockKey key, ILockingManager locks)
    {
        _own = own;
        _discovery = DavProperty.Of(
            DavName.Dav("lockdiscovery"), _ => LockMarkup.Discovery(locks.Covering(key), locks), isMarkup: true);
        All = [.. own.All, Supported, _discovery];
    }

    public IReadOnlyList<DavProperty> All { get; }

    public DavProperty? Find(DavName name)
    {
        if (name == Supported.Name)
            return Supported;
        return name == _discovery.Name ? _discovery : _own.Find(name);
    }
}

/// <summary>Writes locks as XML (RFC 4918, section 14). The enclosing document must bind the prefix <c>D</c> to <c>DAV:</c>.</summary>
internal static class LockMarkup
{
    /// <summary>The content of <c>supportedlock</c>: exclusive and shared write locks.</summary>
    public const string Supported =
        "<D:lockentry><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockentry>"
        + "<D:lockentry><D:lockscope><D:shared/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockentry>";

    /// <summary>Returns the content of <c>lockdiscovery</c>; empty if there are no locks.</summary>
    public static string Discovery(IEnumerable<DavLock> granted, ILockingManager locks)
    {
        var buffer = new ArrayBufferWriter<byte>();
        var xml = new DavXmlWriter(buffer);
        foreach (var held in granted)
            Write(xml, held, locks.SecondsLeft(held));
        return Encoding.UTF8.GetString(buffer.WrittenSpan);
    }

    private static void Write(DavXmlWriter xml, DavLock held, long seconds)
    {
        var scope = held.Terms.Scope == LockScope.Exclusive ? "exclusive" : "shared";
        var depth = held.Terms.IsDeep ? "infinity" : "0";
        xml.Markup($"<D:activelock><D:locktype><D:write/></D:locktype><D:lockscope><D:{scope}/></D:lockscope><D:depth>{depth}</D:depth>");
        xml.Markup(held.Terms.Owner);
        xml.Markup(string.Create(CultureInfo.InvariantCulture, $"<D:timeout>Second-{seconds}</D:timeout>"));
        xml.Markup($"<D:locktoken><D:href>{held.Token}</D:href></D:locktoken><D:lockroot><D:href>");
        xml.Text(held.Terms.Href);
        xml.Markup("</D:href></D:lockroot></D:activelock>"u8);
    }
}
