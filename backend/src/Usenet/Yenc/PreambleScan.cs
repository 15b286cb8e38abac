using System.Text;

namespace Sluice.Usenet.Yenc;

/// <summary>Scans the lines before a block: limits their total length, and records which encoding they suggest, in case no block follows.</summary>
internal struct PreambleScan
{
    /// <summary>Maximum bytes of text before a block. Notices and signatures are a few KiB, so real posts stay far below this limit.</summary>
    public const int MaxTextLength = 64 * 1024;

    /// <summary>Maximum bytes of article headers, which some servers send before a body.</summary>
    public const int MaxHeaderLength = 256 * 1024;

    private int _headerLength;
    private int _textLength;
    private bool _isAfterHeaders;

    /// <summary>The encoding that the lines so far suggest.</summary>
    public ArticleEncoding Encoding { get; private set; }

    /// <summary>Counts bytes of the current line, which may still be incomplete.</summary>
    /// <returns>False if there are too many bytes, so that no block is expected.</returns>
    public bool Count(int bytes)
    {
        ref var length = ref _isAfterHeaders ? ref _textLength : ref _headerLength;
        length = Math.Min(length, int.MaxValue - bytes) + bytes;
        return _textLength <= MaxTextLength && _headerLength <= MaxHeaderLength;
    }

    /// <summary>Processes a complete line. Its bytes are already counted, and may be recounted as text instead of headers.</summary>
    /// <returns>False if no later block can be trusted, because there is too much text or replies are out of order.</returns>
    public bool TakeLine(ReadOnlySpan<byte> line, int bytes)
    {
        if (!_isAfterHeaders && !IsHeaderField(line))
        {
            _isAfterHeaders = true;
            _headerLength -= Math.Min(bytes, _headerLength);
            if (!Count(bytes))
                return false;
        }

        // This is the reply to another command, so a block after it would be the data of another article.
        if (IsReply(line))
            return false;
        if (Encoding is ArticleEncoding.Unknown or ArticleEncoding.Text)
            Encoding = IsBase64Field(line) ? ArticleEncoding.Base64 : line.IsEmpty ? Encoding : ArticleEncoding.Text;
        return true;
    }

    /// <summary>Whether the line is a field "Name: value" or the continuation of one (RFC 5322 section 2.2).</summary>
    private static bool IsHeaderField(ReadOnlySpan<byte> line)
    {
        if (line.IsEmpty)
            return false;
        if (line[0] is (byte)' ' or (byte)'\t')
            return true;
        var colon = line.IndexOf((byte)':');
        return colon > 0 && !line[..colon].ContainsAnyExceptInRange((byte)'!', (byte)'~');
    }

    /// <summary>Whether the line is the status line of an article, "220 0 &lt;id&gt;" or "222 0 &lt;id&gt;" (RFC 3977 sections 6.2.1 and 6.2.3).</summary>
    private static bool IsReply(ReadOnlySpan<byte> line)
    {
        if (!line.StartsWith("22"u8) || line.Length < 4 || line[2] is not ((byte)'0' or (byte)'2') || line[3] != (byte)' ')
            return false;
        var id = line[4..].IndexOf((byte)'<');
        return id >= 0 && line[(4 + id)..].Contains((byte)'>');
    }

    private static bool IsBase64Field(ReadOnlySpan<byte> line)
    {
        var field = "Content-Transfer-Encoding:"u8;
        return line.Length > field.Length
            && Ascii.EqualsIgnoreCase(line[..field.Length], field)
            && Ascii.EqualsIgnoreCase(line[field.Length..].Trim(" \t\r\""u8), "base64"u8);
    }
}
