namespace Sluice.Usenet.Nntp.Wire;

/// <summary>
/// Finds the end of a body that is not wanted any more: CRLF, dot, CRLF, where the start of the body counts as "after CRLF"
/// (RFC 3977 section 3.1.1). Works across any split. A mutable value.
/// </summary>
internal struct BodyScanner
{
    // Bytes of "\r\n.\r\n" matched so far. The pattern overlaps itself only in its first byte and its first two.
    private int _matched;

    /// <summary>A scanner at the start of a body.</summary>
    public static BodyScanner AtStart => new() { _matched = 2 };

    /// <summary>Notes how a stretch ended that a decoder has searched, without reading more than its last bytes.</summary>
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

    /// <summary>Takes the next stretch.</summary>
    /// <returns>True when the terminator ends in it, after <paramref name="consumed"/> bytes.</returns>
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
