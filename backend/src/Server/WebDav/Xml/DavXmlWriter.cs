using System.Buffers;
using System.Globalization;
using System.Text;

namespace Sluice.Server.WebDav.Xml;

/// <summary>Writes elements as UTF-8 into a buffer and never flushes it. The root must declare the prefix <c>D</c> for <c>DAV:</c>. Not thread-safe.</summary>
internal sealed class DavXmlWriter
{
    private const int LongestCharacter = 6;
    private const int Step = 256;

    private readonly IBufferWriter<byte> _output;

    public DavXmlWriter(IBufferWriter<byte> output) => _output = output;

    public long Written { get; private set; }

    /// <summary>Returns a request element as text, formatted by <see cref="Element"/>.</summary>
    public static string Write(DavXmlElement element)
    {
        var buffer = new ArrayBufferWriter<byte>();
        new DavXmlWriter(buffer).Element(element);
        return Encoding.UTF8.GetString(buffer.WrittenSpan);
    }

    /// <summary>Writes markup without escaping.</summary>
    public void Markup(ReadOnlySpan<byte> utf8)
    {
        _output.Write(utf8);
        Written += utf8.Length;
    }

    public void Markup(string markup) => Written += Encoding.UTF8.GetBytes(markup, _output);

    /// <summary>Writes a request element. Preserves namespaces, attributes and order (RFC 4918, section 4.3).</summary>
    public void Element(DavXmlElement element)
    {
        Tag(element.Name, "<"u8, []);
        for (var i = 0; i < element.Attributes.Count; i++)
            Attribute(element.Attributes[i], i);
        if (element.Content.Count == 0)
        {
            Markup("/>"u8);
            return;
        }

        Markup(">"u8);
        foreach (var node in element.Content)
        {
            if (node.Element is { } child)
                Element(child);
            else
                Text(node.Text);
        }

        End(element.Name);
    }

    /// <summary>Opens an element. Declares any namespace except <c>DAV:</c> on the element itself, because the root does not declare it.</summary>
    public void Start(DavName name) => Tag(name, "<"u8, ">"u8);

    public void End(DavName name)
    {
        Markup("</"u8);
        QualifiedName(name);
        Markup(">"u8);
    }

    public void Empty(DavName name) => Tag(name, "<"u8, "/>"u8);

    /// <summary>Writes escaped text. Characters that XML forbids become U+FFFD, because a file name must not break the document (DAV-56).</summary>
    public void Text(ReadOnlySpan<char> text) => Escape(text, isAttribute: false);

    private void Attribute(DavXmlAttribute attribute, int index)
    {
        var prefix = attribute.Name.Namespace switch
        {
            "" => "",
            DavXmlAttribute.XmlNamespace => "xml:",
            DavName.DavNamespace => "D:",
            _ => string.Create(CultureInfo.InvariantCulture, $"A{index}:"),
        };
        if (prefix is not ("" or "xml:" or "D:"))
        {
            Markup($" xmlns:{prefix[..^1]}=\"");
            Escape(attribute.Name.Namespace, isAttribute: true);
            Markup("\""u8);
        }

        Markup($" {prefix}");
        Text(attribute.Name.Local);
        Markup("=\""u8);
        Escape(attribute.Value, isAttribute: true);
        Markup("\""u8);
    }

    private void Escape(ReadOnlySpan<char> text, bool isAttribute)
    {
        while (!text.IsEmpty)
        {
            var span = _output.GetSpan(Math.Min(text.Length, Step) * LongestCharacter);
            var length = 0;
            while (!text.IsEmpty && span.Length - length >= LongestCharacter)
            {
                Rune.DecodeFromUtf16(text, out var rune, out var consumed);
                text = text[consumed..];
                length += WriteCharacter(rune, isAttribute, span[length..]);
            }

            _output.Advance(length);
            Written += length;
        }
    }

    private static int WriteCharacter(Rune rune, bool isAttribute, Span<byte> output)
    {
        switch (rune.Value)
        {
            case '&':
                return Copy("&amp;"u8, output);
            case '<':
                return Copy("&lt;"u8, output);
            case '>':
                return Copy("&gt;"u8, output);
            case '"' when isAttribute:
                return Copy("&quot;"u8, output);
            case '\r':
                return Copy("&#13;"u8, output);
            case '\n' when isAttribute:
                return Copy("&#10;"u8, output);
            case '\t' when isAttribute:
                return Copy("&#9;"u8, output);
            case '\t' or '\n':
                output[0] = (byte)rune.Value;
                return 1;
            case < 0x20 or 0xFFFE or 0xFFFF:
                return Rune.ReplacementChar.EncodeToUtf8(output);
            default:
                return rune.EncodeToUtf8(output);
        }
    }

    private static int Copy(ReadOnlySpan<byte> escaped, Span<byte> output)
    {
        escaped.CopyTo(output);
        return escaped.Length;
    }

    private void Tag(DavName name, ReadOnlySpan<byte> open, ReadOnlySpan<byte> close)
    {
        Markup(open);
        QualifiedName(name);
        if (name.Namespace is not (DavName.DavNamespace or ""))
        {
            Markup(" xmlns:R=\""u8);
            Escape(name.Namespace, isAttribute: true);
            Markup("\""u8);
        }

        Markup(close);
    }

    private void QualifiedName(DavName name)
    {
        if (name.Namespace == DavName.DavNamespace)
            Markup("D:"u8);
        else if (name.Namespace.Length > 0)
            Markup("R:"u8);
        Text(name.Local);
    }
}
