namespace Sluice.Usenet.Nntp.Wire;

/// <summary>
/// Finds the end of an abandoned body: CRLF, dot, CRLF, where the start of the body counts as "after CRLF" (RFC 3977 section 3.1.1). The input may be split
/// anywhere. A mutable value.
/// </summary>
internal struct BodyScanner
{
    // Matched bytes of "\r\n.\r\n". The pattern overlaps itself only in its first one or two bytes.
    private int _matched;

    /// <summary>A scanner at the start of a body.</summary>
    public static BodyScanner AtStart => new() { _matched = 2 };

    /// <summary>Tracks bytes that a decoder has already searched, by reading only the last few.</summary>
    public void Skip(ReadOnlySpan<byte> raw)
    {
        const int LongestPrefix = 4;
        if (raw.Length > LongestPrefix)
        {
            raw = raw[^LongestPrefix..];
            _matched = 0;
        }

        _ = Scan(raw, out _);
    }

    /// <summary>Scans the next bytes; true if the terminator ends after <paramref name="consumed"/> bytes.</summary>
    public bool Scan(ReadOnlySpan<byte> raw, out int consumed)
    {
        var at = 0;
        while (at < raw.Length)
        {
            if (_matched == 0)
            {
                var next = raw[at..].IndexOf((byte)'\r');
                if (next < 0)
                    break;
                at += next + 1;
                _matched = 1;
                continue;
            }

            var value = raw[at++];
            _matched = (_matched, value) switch
            {
                (1, (byte)'\n') => 2,
                (2, (byte)'.') => 3,
                (3, (byte)'\r') => 4,
                (4, (byte)'\n') => 5,
                (_, (byte)'\r') => 1,
                _ => 0,
            };

            if (_matched == 5)
            {
                consumed = at;
                return true;
            }
        }

        consumed = raw.Length;
        return false;
    }
}
