using System.Buffers;
using System.Globalization;
using System.Text;
using System.Xml;

namespace Sluice.Server.SabApi;

/// <summary>Writes XML (SAB-60, SAB-61). The outer element is named after the value if the response has a single value, otherwise <c>result</c>.</summary>
internal sealed class SabXmlWriter : ISabWriter
{
    private const string Result = "result";

    private readonly IBufferWriter<byte> _output;

    // The outermost element is null if the single value itself is the outer element.
    private readonly Stack<(string? Element, string Rows)> _open = new();

    /// <param name="isResult">Whether the response has several fields.</param>
    public SabXmlWriter(IBufferWriter<byte> output, bool isResult)
    {
        _output = output;
        Write("""<?xml version="1.0" encoding="UTF-8" ?>""");
        Write("\n");
        _open.Push((isResult ? Result : null, ""));
        if (isResult)
            Write($"<{Result}>");
    }

    public void BeginObject(string? name = null) => Begin(name, "slot", "");

    public void EndObject() => End();

    public void BeginList(string name) => Begin(name, "", name);

    public void EndList() => End();

    public void Field(string? name, string? value)
    {
        Begin(name, "item", "");
        if (!string.IsNullOrEmpty(value))
            Write(Escape(value));
        End();
    }

    public void Field(string? name, long value) => Field(name, value.ToString(CultureInfo.InvariantCulture));

    public void Field(string? name, bool value) => Field(name, value ? "True" : "False");

    public void Complete() => End();

    public void Flush()
    {
        // Nothing to flush, because this writer buffers nothing.
    }

    public void Dispose()
    {
        // Nothing to dispose.
    }

    /// <param name="name">Null inside a list.</param>
    /// <param name="row">Default element name for rows.</param>
    /// <param name="list">Name of the new list; empty if it is not a list.</param>
    private void Begin(string? name, string row, string list)
    {
        var element = name ?? RowOf(_open.Peek().Rows, row);
        var isName = XmlConvert.IsStartNCNameChar(element.Length > 0 ? element[0] : ' ') && element.All(XmlConvert.IsNCNameChar);
        Write(isName ? $"<{element}>" : $"<item name=\"{Escape(element)}\">");
        _open.Push((isName ? element : "item", list));
    }

    private void End()
    {
        if (_open.Pop().Element is { } element)
            Write($"</{element}>");
    }

    private static string RowOf(string list, string row) => list switch
    {
        "categories" => "category",
        "servers" => "server",
        "scripts" => "script",
        "warnings" => "warning",
        "files" => "file",
        _ => row,
    };

    private void Write(string text) => Encoding.UTF8.GetBytes(text, _output);

    private static string Escape(string text)
    {
        var escaped = new StringBuilder(text.Length);
        for (var at = 0; at < text.Length; at++)
        {
            var c = text[at];
            var isPair = at + 1 < text.Length && XmlConvert.IsXmlSurrogatePair(text[at + 1], c);
            _ = c switch
            {
                '&' => escaped.Append("&amp;"),
                '<' => escaped.Append("&lt;"),
                '>' => escaped.Append("&gt;"),
                '"' => escaped.Append("&quot;"),
                // Otherwise a parser would normalize a carriage return to a line feed.
                '\r' => escaped.Append("&#13;"),
                _ when isPair => escaped.Append(c).Append(text[++at]),
                _ => escaped.Append(XmlConvert.IsXmlChar(c) ? c : '\uFFFD'),
            };
        }

        return escaped.ToString();
    }
}
