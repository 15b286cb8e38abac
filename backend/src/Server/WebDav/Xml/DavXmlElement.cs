namespace Sluice.Server.WebDav;

/// <summary>An element of a request body, with all that XML says about it but prefixes, comments and instructions.</summary>
/// <param name="Name">Its expanded name.</param>
/// <param name="Attributes">Its attributes without namespace declarations.</param>
/// <param name="Content">Text and child elements in document order, from which the element can be written again.</param>
internal sealed record DavXmlElement(DavName Name, IReadOnlyList<DavXmlAttribute> Attributes, IReadOnlyList<DavXmlNode> Content)
{
    /// <summary>Its child elements in document order.</summary>
    public IEnumerable<DavXmlElement> Children => Content.Select(node => node.Element).OfType<DavXmlElement>();

    /// <summary>The first child with this name in the <c>DAV:</c> namespace, or null.</summary>
    public DavXmlElement? Child(string local) => Children.FirstOrDefault(child => child.Name == DavName.Dav(local));
}

/// <summary>An attribute.</summary>
/// <param name="Name">Its expanded name; without a prefix it is in no namespace.</param>
/// <param name="Value">Its value, references resolved.</param>
internal readonly record struct DavXmlAttribute(DavName Name, string Value)
{
    /// <summary>The namespace of <c>xml:lang</c> and its kin.</summary>
    public const string XmlNamespace = "http://www.w3.org/XML/1998/namespace";

    /// <summary>The language of an element's text.</summary>
    public static DavName Language { get; } = new(XmlNamespace, "lang");
}

/// <summary>A piece of an element's content: a child element, or else text.</summary>
/// <param name="Text">Text, references resolved; empty for an element.</param>
/// <param name="Element">The child element, or null.</param>
internal readonly record struct DavXmlNode(string Text, DavXmlElement? Element);
