using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Text;
using System.Text.Unicode;

namespace Sluice.Server.WebDav;

/// <summary>Encodes and decodes path segments (RFC 3986, section 2.1): <c>pct-encoded = "%" HEXDIG HEXDIG</c>.</summary>
internal static class PercentEncoding
{
    /// <summary>Characters that do not need encoding: <c>pchar = unreserved / pct-encoded / sub-delims / ":" / "@"</c>.</summary>
    private static readonly SearchValues<char> Plain = SearchValues.Create(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@");

    /// <summary>Encodes a name as one UTF-8 segment.</summary>
    public static string Encode(string name)
    {
        if (!name.AsSpan().ContainsAnyExcept(Plain))
            return name;

        var encoded = new StringBuilder(name.Length + 16);
        Span<byte> utf8 = stackalloc byte[4];
        foreach (var rune in name.EnumerateRunes())
        {
            if (rune.IsAscii && Plain.Contains((char)rune.Value))
            {
                encoded.Append((char)rune.Value);
                continue;
            }

            var length = rune.EncodeToUtf8(utf8);
            foreach (var value in utf8[..length])
                encoded.Append('%').Append(Digit(value >> 4)).Append(Digit(value & 15));
        }

        return encoded.ToString();
    }

    /// <summary>Decodes one segment once. False for broken escapes, invalid UTF-8, NUL and separators, which could split or truncate the name.</summary>
    public static bool TryDecode(ReadOnlySpan<char> segment, [NotNullWhen(true)] out string? name)
    {
        name = null;
        var utf8 = ArrayPool<byte>.Shared.Rent(segment.Length);
        var chars = ArrayPool<char>.Shared.Rent(segment.Length);
        try
        {
            if (!TryUnescape(segment, utf8, out var length))
                return false;
            if (Utf8.ToUtf16(utf8.AsSpan(0, length), chars, out _, out var written, replaceInvalidSequences: false) != OperationStatus.Done)
                return false;
            name = new string(chars, 0, written);
            return true;
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(utf8);
            ArrayPool<char>.Shared.Return(chars);
        }
    }

    private static bool TryUnescape(ReadOnlySpan<char> segment, Span<byte> utf8, out int length)
    {
        length = 0;
        for (var at = 0; at < segment.Length; at++)
        {
            int value = segment[at];
            if (value == '%')
            {
                if (at + 2 >= segment.Length || !char.IsAsciiHexDigit(segment[at + 1]) || !char.IsAsciiHexDigit(segment[at + 2]))
                    return false;
                value = (Value(segment[at + 1]) << 4) | Value(segment[at + 2]);
                at += 2;
            }
            else if (value > 0x7F)
            {
                return false;
            }

            if (value is 0 or '/' or '\\')
                return false;
            utf8[length++] = (byte)value;
        }

        return true;
    }

    private static char Digit(int nibble) => (char)(nibble < 10 ? '0' + nibble : 'A' + nibble - 10);

    private static int Value(char digit) => char.IsAsciiDigit(digit) ? digit - '0' : (digit | 0x20) - 'a' + 10;
}
