using System.Text;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Wire;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>Stores one body as text, exactly as received.</summary>
internal sealed class TextSink : IArticleSink
{
    private readonly StringBuilder _text = new();
    private BodyScanner _scanner = BodyScanner.AtStart;

    /// <summary>The body with its terminating line.</summary>
    public string Text => _text.ToString();

    public void Start(int provider)
    {
        _text.Clear();
        _scanner = BodyScanner.AtStart;
    }

    public bool Write(ReadOnlySpan<byte> raw, out int consumed)
    {
        var ended = _scanner.Scan(raw, out consumed);
        _text.Append(Encoding.Latin1.GetString(raw[..consumed]));
        return ended;
    }
}
