namespace Sluice.Server.WebDav;

/// <summary>
/// The prefixes in scope at one place of a document (Namespaces in XML 1.0). The innermost declaration wins; leaving an element
/// drops what it declared.
/// </summary>
internal sealed class NamespaceScope
{
    /// <summary>
    /// Declarations in scope at a time. Clients use three or four; the ceiling keeps the search of them, which each name of a
    /// body repeats, from growing with the square of its size.
    /// </summary>
    public const int MaxDeclarations = 128;

    private const string XmlNamespace = DavXmlAttribute.XmlNamespace;
    private const string XmlnsNamespace = "http://www.w3.org/2000/xmlns/";

    private readonly List<(string Prefix, string Uri)> _declared = [];

    /// <summary>How many declarations are in scope: what <see cref="Leave"/> needs to return to this place.</summary>
    public int Count => _declared.Count;

    /// <summary>Binds a prefix; the empty one is the default namespace.</summary>
    public void Declare(string prefix, string uri)
    {
        if (prefix == "xmlns" || uri == XmlnsNamespace || (prefix == "xml") != (uri == XmlNamespace))
            throw new DavXmlException("A reserved prefix or namespace is declared.");
        if (uri.Length == 0 && prefix.Length > 0)
            throw new DavXmlException("A prefix is bound to no namespace.");
        if (_declared.Count == MaxDeclarations)
            throw new DavXmlException("There are too many namespace declarations.");
        _declared.Add((prefix, uri));
    }

    /// <summary>Drops the declarations made since there were <paramref name="count"/>.</summary>
    public void Leave(int count) => _declared.RemoveRange(count, _declared.Count - count);

    /// <summary>The namespace of a prefix; empty for an undeclared default one.</summary>
    public string Resolve(ReadOnlySpan<char> prefix)
    {
        for (int i = _declared.Count - 1; i >= 0; i--)
        {
            if (prefix.SequenceEqual(_declared[i].Prefix))
                return _declared[i].Uri;
        }

        if (prefix.IsEmpty)
            return "";
        return prefix is "xml" ? XmlNamespace : throw new DavXmlException("A prefix is not declared.");
    }
}
