using System.Text;

namespace Sluice.Usenet.Nzb;

/// <summary>Which encoding an XML document is in, by its byte order mark or its declaration (XML 1.0 appendix F).</summary>
internal static class NzbEncoding
{
    /// <summary>The encoding and the length of the byte order mark. Names that are not known count as UTF-8.</summary>
    public static (Encoding Encoding, int Mark) Recognise(ReadOnlySpan<byte> start)
    {
        if (start.StartsWith((ReadOnlySpan<byte>)[0xEF, 0xBB, 0xBF]))
            return (Encoding.UTF8, 3);
        if (start.StartsWith((ReadOnlySpan<byte>)[0xFF, 0xFE]))
            return (Encoding.Unicode, 2);
        if (start.StartsWith((ReadOnlySpan<byte>)[0xFE, 0xFF]))
            return (Encoding.BigEndianUnicode, 2);
        if (start.StartsWith((ReadOnlySpan<byte>)[(byte)'<', 0]))
            return (Encoding.Unicode, 0);
        if (start.StartsWith((ReadOnlySpan<byte>)[0, (byte)'<']))
            return (Encoding.BigEndianUnicode, 0);

        return (IsLatin(DeclaredName(start)) ? Encoding.Latin1 : Encoding.UTF8, 0);
    }

    // The one-byte encodings of western Europe differ in a few signs only; a document that lies about UTF-16 is read as UTF-8.
    private static bool IsLatin(string name) => name.ToUpperInvariant() is
        "ISO-8859-1" or "ISO8859-1" or "ISO_8859-1" or "LATIN1" or "LATIN-1" or "L1" or "ISO-8859-15" or "WINDOWS-1252" or "CP1252";

    private static string DeclaredName(ReadOnlySpan<byte> start)
    {
        var close = start.IndexOf("?>"u8);
        if (!start.StartsWith("<?xml"u8) || close < 0)
            return "";

        var declaration = start[..close];
        var name = declaration.IndexOf("encoding"u8);
        if (name < 0)
            return "";

        declaration = declaration[(name + "encoding"u8.Length)..].TrimStart(" \t\r\n="u8);
        if (declaration.IsEmpty || declaration[0] is not ((byte)'"' or (byte)'\''))
            return "";

        var end = declaration[1..].IndexOf(declaration[0]);
        return end < 0 ? "" : Encoding.Latin1.GetString(declaration.Slice(1, end));
    }
}
