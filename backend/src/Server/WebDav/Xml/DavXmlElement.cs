namespace Sluice.Server.WebDav.Xml;

/// <summary>An element in a request body. Its prefixes are resolved; comments and processing instructions are dropped.</summary>
/// <param name="Attributes">The attributes, without namespace declarations.</param>
/// <param name="Content">Text and child elements in document order.</param>
internal sealed record DavXmlElement(DavName Name, IReadOnlyList<DavXmlAttribute> Attributes, IReadOnlyList<DavXmlNode> Content)
{
    public IEnumerable<DavXmlElement> Children => Content.Select(node => node.Element).OfType<DavXmlElement>();

    /// <summary>The first child with this name in the <c>DAV:</c> namespace, or null.</summary>
    public DavXmlElement? Child(string local) => Children.FirstOrDefault(child => child.Name == DavName.Dav(local));
}

/// <param name="Name">The expanded name. An attribute without a prefix has no namespace.</param>
/// <param name="Value">The value, with references resolved.</param>
internal readonly record struct DavXmlAttribute(DavName Name, string Value)
{
    /// <summary>The namespace bound to the prefix <c>xml</c>.</summary>
    public const string XmlNamespace = "http://www.w3.org/XML/1998/namespace";

    /// <summary>The attribute <c>xml:lang</c>.</summary>
    public static DavName Language { get; } = new(XmlNamespace, "lang");
}

/// <summary>Content of an element: either a child element or text.</summary>
/// <param name="Text">Text, with references resolved; empty for an element.</param>
/// <param name="Element">The child element, or null.</param>
internal readonly record struct DavXmlNode(string Text, DavXmlElement? Element);
