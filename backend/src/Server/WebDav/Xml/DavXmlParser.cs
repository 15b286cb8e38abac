using System.Buffers;
using System.Text;

namespace Sluice.Server.WebDav;

/// <summary>
/// The XML of request bodies: XML 1.0 with namespaces, without DTD. A DTD is refused at its first character, so nothing is ever
/// declared, resolved or expanded, and the work is bounded by the length of the text.
/// </summary>
internal ref struct DavXmlParser
{
    private static readonly SearchValues<char> Illegal = SearchValues.Create(
        "\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\u0008\u000B\u000C\u000E\u000F\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017\u0018\u0019\u001A\u001B\u001C\u001D\u001E\u001F\uFFFE\uFFFF");

    private static readonly SearchValues<char> ContentStops = SearchValues.Create("<&]");
    private static readonly SearchValues<char> DoubleQuoteStops = SearchValues.Create("\"<&");
    private static readonly SearchValues<char> SingleQuoteStops = SearchValues.Create("'<&");

    private readonly NamespaceScope _scope = new();
    private readonly int _maxDepth;
    private DavXmlCursor _cursor;

    private DavXmlParser(ReadOnlySpan<char> text, int maxDepth)
    {
        _cursor = new DavXmlCursor(text);
        _maxDepth = maxDepth;
    }

    /// <summary>Reads a whole document. Throws <see cref="DavXmlException"/> for anything that is not one.</summary>
    /// <param name="text">The document, decoded, without byte order mark.</param>
    /// <param name="maxDepth">How deep elements may nest.</param>
    public static DavXmlElement Parse(ReadOnlySpan<char> text, int maxDepth)
    {
        if (text.ContainsAny(Illegal))
            throw new DavXmlException("The XML holds characters that XML cannot carry.");
        return new DavXmlParser(text, maxDepth).ReadDocument();
    }

    /// <summary><c>document ::= XMLDecl? Misc* element Misc*</c></summary>
    private DavXmlElement ReadDocument()
    {
        if (_cursor.Take("<?xml"))
        {
            if (!_cursor.AtSpace)
                throw new DavXmlException("The XML is malformed.");
            CheckDeclaration(_cursor.TakeUntil("?>"));
        }

        SkipMisc();
        DavXmlElement root = ReadElement(depth: 1);
        SkipMisc();
        return _cursor.AtEnd ? root : throw new DavXmlException("Something follows the root element.");
    }

    /// <summary>
    /// <c>XMLDecl ::= '&lt;?xml' VersionInfo EncodingDecl? SDDecl? S? '?>'</c>. The text is decoded by now, so a declared encoding
    /// can only contradict it, unless it is one of those that the reader decodes.
    /// </summary>
    private static void CheckDeclaration(ReadOnlySpan<char> declaration)
    {
        int start = declaration.IndexOf("encoding");
        if (start < 0)
            return;
        ReadOnlySpan<char> rest = declaration[(start + "encoding".Length)..].TrimStart();
        rest = rest.StartsWith('=') ? rest[1..].TrimStart() : [];
        int end = rest.IsEmpty ? -1 : rest[1..].IndexOf(rest[0]);
        string name = end < 0 ? "" : rest[1..(end + 1)].ToString().ToUpperInvariant();
        if (name is not ("UTF-8" or "US-ASCII" or "ASCII" or "UTF-16" or "UTF-16LE" or "UTF-16BE"))
            throw new DavXmlException("The XML declares an encoding that is neither UTF-8 nor UTF-16.");
    }

    /// <summary><c>Misc ::= Comment | PI | S</c></summary>
    private void SkipMisc()
    {
        do
        {
            _cursor.SkipSpace();
        }
        while (SkipComment() || SkipInstruction());
        if (_cursor.At("<!"))
            throw new DavXmlException("A document type declaration is refused.");
    }

    /// <summary><c>Comment ::= '&lt;!--' ... '-->'</c>, without <c>--</c> inside.</summary>
    private bool SkipComment()
    {
        if (!_cursor.Take("<!--"))
            return false;
        _cursor.TakeUntil("--");
        _cursor.Expect(">");
        return true;
    }

    /// <summary><c>PI ::= '&lt;?' PITarget ... '?>'</c></summary>
    private bool SkipInstruction()
    {
        if (!_cursor.Take("<?"))
            return false;
        ReadOnlySpan<char> target = _cursor.TakeName(out _, out _);
        if (target.Equals("xml", StringComparison.OrdinalIgnoreCase))
            throw new DavXmlException("An XML declaration stands in the wrong place.");
        _cursor.TakeUntil("?>");
        return true;
    }

    /// <summary><c>element ::= EmptyElemTag | STag content ETag</c></summary>
    private DavXmlElement ReadElement(int depth)
    {
        if (depth > _maxDepth)
            throw new DavXmlException("The XML nests too deeply.");

        int scope = _scope.Count;
        _cursor.Expect("<");
        ReadOnlySpan<char> tag = _cursor.TakeName(out ReadOnlySpan<char> prefix, out ReadOnlySpan<char> local);
        List<DavXmlAttribute> attributes = ReadAttributes();
        var name = new DavName(_scope.Resolve(prefix), local.ToString());

        DavXmlElement element;
        if (_cursor.Take("/>"))
        {
            element = new DavXmlElement(name, [], "") { Attributes = attributes };
        }
        else
        {
            _cursor.Expect(">");
            element = ReadContent(name, depth) with { Attributes = attributes };
            _cursor.Expect("</");
            _cursor.Expect(tag);
            _cursor.SkipSpace();
            _cursor.Expect(">");
        }

        _scope.Leave(scope);
        return element;
    }

    /// <summary><c>(S Attribute)* S?</c>, declarations taken into scope, names checked once all of these are known.</summary>
    private List<DavXmlAttribute> ReadAttributes()
    {
        HashSet<(string Prefix, string Local)>? names = null;
        List<(string Prefix, string Local, string Value)>? plain = null;
        while (_cursor.SkipSpace() && !_cursor.At(">") && !_cursor.At("/>"))
        {
            _cursor.TakeName(out ReadOnlySpan<char> prefix, out ReadOnlySpan<char> local);
            (string Prefix, string Local) name = (prefix.ToString(), local.ToString());
            _cursor.SkipSpace();
            _cursor.Expect("=");
            _cursor.SkipSpace();
            string value = ReadAttributeValue();
            if (!(names ??= []).Add(name))
                throw new DavXmlException("An attribute is repeated.");
            if (name is ("", "xmlns"))
                _scope.Declare("", value);
            else if (name.Prefix == "xmlns")
                _scope.Declare(name.Local, value);
            else
                (plain ??= []).Add((name.Prefix, name.Local, value));
        }

        return plain is null ? [] : Expand(plain);
    }

    /// <summary>Resolves the prefixes. An attribute without one is in no namespace, whatever the default.</summary>
    private readonly List<DavXmlAttribute> Expand(List<(string Prefix, string Local, string Value)> plain)
    {
        var seen = new HashSet<DavName>();
        var attributes = new List<DavXmlAttribute>(plain.Count);
        foreach ((string prefix, string local, string value) in plain)
        {
            var name = new DavName(prefix.Length == 0 ? "" : _scope.Resolve(prefix), local);
            if (!seen.Add(name))
                throw new DavXmlException("An attribute is repeated.");
            attributes.Add(new DavXmlAttribute(name, value));
        }

        return attributes;
    }

    /// <summary><c>AttValue ::= '"' ([^&lt;&amp;"] | Reference)* '"' | "'" ([^&lt;&amp;'] | Reference)* "'"</c></summary>
    private string ReadAttributeValue()
    {
        string quote = _cursor.Take("\"") ? "\"" : "'";
        if (quote == "'")
            _cursor.Expect("'");
        SearchValues<char> stops = quote == "\"" ? DoubleQuoteStops : SingleQuoteStops;

        var value = new StringBuilder();
        while (true)
        {
            value.Append(_cursor.TakeText(stops));
            if (_cursor.Take(quote))
                return value.ToString();
            if (_cursor.At("<"))
                throw new DavXmlException("The XML is malformed.");
            _cursor.TakeReference(value);
        }
    }

    /// <summary><c>content ::= CharData? ((element | Reference | CDSect | PI | Comment) CharData?)*</c></summary>
    private DavXmlElement ReadContent(DavName name, int depth)
    {
        var children = new List<DavXmlElement>();
        var nodes = new List<DavXmlNode>();
        var text = new StringBuilder();
        int written = 0;
        while (true)
        {
            text.Append(_cursor.TakeText(ContentStops));
            if (_cursor.At("</"))
            {
                AddText(nodes, text, ref written);
                return new DavXmlElement(name, children, text.ToString()) { Content = nodes };
            }

            if (_cursor.At("]]>"))
                throw new DavXmlException("The XML is malformed.");
            if (_cursor.Take("]"))
            {
                text.Append(']');
            }
            else if (_cursor.At("&"))
            {
                _cursor.TakeReference(text);
            }
            else if (_cursor.Take("<![CDATA["))
            {
                text.Append(_cursor.TakeUntil("]]>"));
            }
            else if (!SkipComment() && !SkipInstruction())
            {
                AddText(nodes, text, ref written);
                children.Add(ReadElement(depth + 1));
                nodes.Add(new DavXmlNode("", children[^1]));
            }
        }
    }

    private static void AddText(List<DavXmlNode> nodes, StringBuilder text, ref int written)
    {
        if (text.Length > written)
            nodes.Add(new DavXmlNode(text.ToString(written, text.Length - written), null));
        written = text.Length;
    }
}
