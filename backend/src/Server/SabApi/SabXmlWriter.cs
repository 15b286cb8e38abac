using System.Buffers;
using System.Globalization;
using System.Text;
using System.Xml;

namespace Sluice.Server.SabApi;

/// <summary>
/// An answer in XML (SAB-60, SAB-61). An answer that is one named value has its name as the outer element, any other has <c>result</c>.
/// </summary>
internal sealed class SabXmlWriter : ISabWriter
{
    private const string Result = "result";

    private readonly IBufferWriter<byte> _output;

    // The outermost is null where the one value of the answer is the outer element itself.
    private readonly Stack<(string? Element, string Rows)> _open = new();

    /// <summary>Begins the answer.</summary>
    /// <param name="output">Takes the bytes.</param>
    /// <param name="isResult">Whether it is more than one named value.</param>
    public SabXmlWriter(IBufferWriter<byte> output, bool isResult)
    {
        _output = output;
        Write("""<?xml version="1.0" encoding="UTF-8" ?>""");
        Write("\n");
        _open.Push((isResult ? Result : null, ""));
        if (isResult)
            Write($"<{Result}>");
    }

    /// <inheritdoc/>
    public void BeginObject(string? name = null) => Begin(name, "slot", "");

    /// <inheritdoc/>
    public void EndObject() => End();

    /// <inheritdoc/>
    public void BeginList(string name) => Begin(name, "", name);

    /// <inheritdoc/>
    public void EndList() => End();

    /// <inheritdoc/>
    public void Field(string? name, string? value)
    {
        Begin(name, "item", "");
        if (!string.IsNullOrEmpty(value))
            Write(Escape(value));
        End();
    }

    /// <inheritdoc/>
    public void Field(string? name, long value) => Field(name, value.ToString(CultureInfo.InvariantCulture));

    /// <inheritdoc/>
    public void Field(string? name, bool value) => Field(name, value ? "True" : "False");

    /// <inheritdoc/>
    public void Complete() => End();

    /// <inheritdoc/>
    public void Flush()
    {
        // Nothing is held back.
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        // Nothing is owned.
    }

    /// <param name="name">Null inside of a list.</param>
    /// <param name="row">Element of a row of a list that gives its rows no other.</param>
    /// <param name="list">Name of the list that begins; empty for none.</param>
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
                // A parser would make a line feed of it.
                '\r' => escaped.Append("&#13;"),
                _ when isPair => escaped.Append(c).Append(text[++at]),
                _ => escaped.Append(XmlConvert.IsXmlChar(c) ? c : '\uFFFD'),
            };
        }

        return escaped.ToString();
    }
}
