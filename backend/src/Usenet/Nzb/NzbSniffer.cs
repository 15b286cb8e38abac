namespace Sluice.Usenet.Nzb;

/// <summary>Tells from its first bytes what was sent in place of an NZB, in words for the one who sent it.</summary>
internal static class NzbSniffer
{
    /// <summary>gzip, RFC 1952 section 2.3.1.</summary>
    public static bool IsGzip(ReadOnlySpan<byte> start) => start.StartsWith((ReadOnlySpan<byte>)[0x1F, 0x8B, 0x08]);

    /// <summary>What the input is, or null when it may be XML or gzip.</summary>
    public static string? Foreign(ReadOnlySpan<byte> start)
    {
        if (IsGzip(start))
            return null;
        if (start.IsEmpty)
            return "empty file";
        if (start.StartsWith("PK\u0003\u0004"u8))
            return "zip archive";
        if (start.StartsWith("Rar!"u8))
            return "RAR archive";
        if (start.StartsWith("7z"u8))
            return "7z archive";
        if (start.StartsWith("BZh"u8))
            return "bzip2";
        if (start.StartsWith("d8:announce"u8))
            return "torrent";

        // The first sign of an XML document is an opening bracket, in one of its encodings.
        var (encoding, mark) = NzbEncoding.Recognise(start);
        var text = encoding.GetString(start[mark..]).AsSpan().TrimStart();
        if (text.IsEmpty)
            return "blank file";
        if (text[0] == '<')
            return IsHtml(text) ? "HTML page" : null;
        if (text[0] is '{' or '[')
            return "JSON";
        return text.ContainsAnyInRange('\0', '\u0008') || text.Contains('\uFFFD') ? "binary data" : "text";
    }

    private static bool IsHtml(ReadOnlySpan<char> text) =>
        text.StartsWith("<!doctype html", StringComparison.OrdinalIgnoreCase) || text.StartsWith("<html", StringComparison.OrdinalIgnoreCase);
}
