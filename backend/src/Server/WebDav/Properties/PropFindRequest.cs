using Sluice.Server.WebDav.Xml;

namespace Sluice.Server.WebDav.Properties;

/// <summary>The body of a PROPFIND (RFC 4918, section 9.1): <c>propfind (propname | (allprop, include?) | prop)</c>.</summary>
internal sealed class PropFindRequest
{
    private PropFindRequest(bool namesOnly, bool everything, IReadOnlyList<DavName> names)
    {
        NamesOnly = namesOnly;
        Everything = everything;
        Names = names;
    }

    /// <summary>Requests all properties except those returned only by name. A request without a body means the same.</summary>
    public static PropFindRequest AllProperties { get; } = new(namesOnly: false, everything: true, []);

    /// <summary>Whether the response lists names without values.</summary>
    public bool NamesOnly { get; }

    /// <summary>Whether all properties are requested, plus <see cref="Names"/>.</summary>
    public bool Everything { get; }

    /// <summary>The requested names, distinct, in request order.</summary>
    public IReadOnlyList<DavName> Names { get; }

    /// <summary>Parses the body. If there is none, requests all properties. Throws <see cref="DavXmlException"/> unless exactly one form is used.</summary>
    public static PropFindRequest From(DavXmlElement? root)
    {
        if (root is null)
            return AllProperties;
        if (root.Name != DavName.Dav("propfind"))
            throw new DavXmlException("The root element is not propfind.");

        var all = root.Child("allprop");
        var names = root.Child("propname");
        var some = root.Child("prop");
        return (all, names, some) switch
        {
            ({ }, null, null) => new PropFindRequest(namesOnly: false, everything: true, NamesIn(root.Child("include"))),
            (null, { }, null) => new PropFindRequest(namesOnly: true, everything: true, []),
            (null, null, { }) => new PropFindRequest(namesOnly: false, everything: false, NamesIn(some)),
            _ => throw new DavXmlException("A propfind asks for exactly one of allprop, propname and prop."),
        };
    }

    private static DavName[] NamesIn(DavXmlElement? element) =>
        element is null ? [] : [.. element.Children.Select(child => child.Name).Distinct()];
}
