namespace Sluice.Usenet.Benchmarks;

/// <summary>Bodies as they come off the wire, made without the engine: 716,800 bytes a part, lines of 128.</summary>
internal static class RawBodies
{
    /// <summary>Decoded bytes of the reference article.</summary>
    public const int PartLength = 716_800;

    private const int LineLength = 128;

    /// <summary>Different articles of random bytes: a branch predictor that learns one of them has learned nothing.</summary>
    public static byte[][] Noise(int count) => [.. Enumerable.Range(0, count).Select(seed => Encode(Random(seed), everything: false))];

    /// <summary>An article whose poster escapes each byte.</summary>
    public static byte[] EverythingEscaped() => Encode(Random(1_000), everything: true);

    /// <summary>Input that nobody posts but an attacker: a few bytes over and over, as long as an article.</summary>
    public static byte[] Repeated(string pattern)
    {
        var bytes = new byte[740_000 / pattern.Length * pattern.Length];
        for (var i = 0; i < bytes.Length; i++)
            bytes[i] = (byte)pattern[i % pattern.Length];
        return bytes;
    }

    private static byte[] Random(int seed)
    {
        var bytes = new byte[PartLength];
        new Random(seed).NextBytes(bytes);
        return bytes;
    }

    /// <summary>yEnc draft 1.3 and the dot-stuffing of RFC 3977 section 3.1.1, up to the last line end of the data.</summary>
    private static byte[] Encode(byte[] data, bool everything)
    {
        var raw = new List<byte>(data.Length * 2);
        var column = 0;
        foreach (var b in data)
        {
            var c = (byte)(b + 42);

            // An escaped '9' at the start of a line would be a keyword.
            var escape = (everything && (c != '9' || column != 0)) || c is 0 or (byte)'\r' or (byte)'\n' or (byte)'=';
            if (escape)
                raw.Add((byte)'=');
            else if (c == '.' && column == 0)
                raw.Add(c);
            raw.Add(escape ? (byte)(c + 64) : c);
            column += escape ? 2 : 1;
            if (column < LineLength)
                continue;
            raw.AddRange("\r\n"u8);
            column = 0;
        }

        if (column != 0)
            raw.AddRange("\r\n"u8);
        return [.. raw];
    }
}
