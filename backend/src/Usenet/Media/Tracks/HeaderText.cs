using System.Text;

namespace Sluice.Usenet.Media.Tracks;

/// <summary>Sanitizes header texts, because they are untrusted and shown to users.</summary>
internal static class HeaderText
{
    // Titles are one line, so longer text is truncated.
    private const int MaxBytes = 512;

    /// <summary>Returns the text up to its first NUL, without control characters; null if empty.</summary>
    public static string? Of(ReadOnlySpan<byte> bytes)
    {
        bytes = bytes[..Math.Min(bytes.Length, MaxBytes)];
        if (bytes.IndexOf((byte)0) is >= 0 and var end)
            bytes = bytes[..end];
        var text = string.Concat(Encoding.UTF8.GetString(bytes).Where(c => !char.IsControl(c) && c != '\uFFFD')).Trim();
        return text.Length == 0 ? null : text;
    }

    /// <summary>Returns the language; null for codes that mean unknown or none.</summary>
    public static string? LanguageOf(string? text) => text is null or "und" or "mis" or "zxx" or "mul" ? null : text;

    /// <summary>Returns a four-letter code, such as <c>avc1</c>.</summary>
    public static string CodeOf(ReadOnlySpan<byte> bytes)
    {
        Span<char> code = stackalloc char[4];
        for (var i = 0; i < code.Length; i++)
            code[i] = i < bytes.Length && bytes[i] is >= 0x20 and < 0x7F ? (char)bytes[i] : '?';
        return new string(code);
    }
}
