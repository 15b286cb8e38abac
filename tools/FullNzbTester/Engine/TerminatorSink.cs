using Sluice.Usenet.Nntp;

namespace Sluice.Tools.FullNzbTester.Engine;

/// <summary>Discards a body and only detects its terminator (RFC 3977 section 3.1.1).</summary>
internal sealed class TerminatorSink : IArticleSink
{
    private const int Kept = 4;

    private readonly byte[] _seam = new byte[2 * Kept];
    private int _tail;

    private static ReadOnlySpan<byte> Terminator => "\r\n.\r\n"u8;

    public void Start(int provider)
    {
        // The body follows a CRLF, so that the terminator of an empty body is found at once.
        "\r\n"u8.CopyTo(_seam);
        _tail = 2;
    }

    public bool Write(ReadOnlySpan<byte> raw, out int consumed)
    {
        // Finds a terminator that spans two chunks: the last bytes of the previous chunk plus the first of this one.
        var ahead = Math.Min(Kept, raw.Length);
        raw[..ahead].CopyTo(_seam.AsSpan(_tail));
        var at = _seam.AsSpan(0, _tail + ahead).IndexOf(Terminator);
        if (at >= 0)
        {
            consumed = at + Terminator.Length - _tail;
            return true;
        }

        at = raw.IndexOf(Terminator);
        if (at >= 0)
        {
            consumed = at + Terminator.Length;
            return true;
        }

        Keep(raw, ahead);
        consumed = raw.Length;
        return false;
    }

    private void Keep(ReadOnlySpan<byte> raw, int ahead)
    {
        if (raw.Length >= Kept)
        {
            raw[^Kept..].CopyTo(_seam);
            _tail = Kept;
            return;
        }

        var filled = _tail + ahead;
        var keep = Math.Min(Kept, filled);
        _seam.AsSpan(filled - keep, keep).CopyTo(_seam);
        _tail = keep;
    }
}
