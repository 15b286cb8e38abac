using System.Text;

namespace Sluice.Usenet.Archives;

/// <summary>Reads names of RAR 2.9 to 4. Pure.</summary>
/// <remarks>
/// A name is bytes in the code page of the system that packed it. With the Unicode flag it is UTF-8, or, where it holds a zero byte, a plain
/// name before and its UTF-16 form after it, packed with the help of the plain one.
/// </remarks>
internal static class Rar4Name
{
    private static readonly UTF8Encoding Strict = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    /// <summary>The name, separated by <c>/</c>.</summary>
    /// <param name="bytes">The field of the header.</param>
    /// <param name="hasUnicode">Whether the Unicode flag is set.</param>
    public static string Read(ReadOnlySpan<byte> bytes, bool hasUnicode)
    {
        var zero = bytes.IndexOf((byte)0);
        var plain = zero < 0 ? bytes : bytes[..zero];
        var name = hasUnicode && zero >= 0 && zero + 1 < bytes.Length ? Unpack(plain, bytes[(zero + 1)..]) : FromBytes(plain);
        return name.Replace('\\', '/');
    }

    private static string FromBytes(ReadOnlySpan<byte> bytes)
    {
        try
        {
            return Strict.GetString(bytes);
        }
        catch (DecoderFallbackException)
        {
            // The code page is told nowhere. Latin-1 loses nothing.
            return Encoding.Latin1.GetString(bytes);
        }
    }

    /// <summary>
    /// A high byte for the whole name, then groups of a byte with four codes of two bits, highest first, and what they need: 0 a low byte,
    /// 1 a low byte that gets the high one, 2 both bytes, 3 a run of the plain name, with a correction and the high byte where the top bit of
    /// its length is set. A name that is cut short ends there.
    /// </summary>
    private static string Unpack(ReadOnlySpan<byte> plain, ReadOnlySpan<byte> packed)
    {
        var name = new StringBuilder(plain.Length);
        var high = packed[0] << 8;
        var at = 1;
        while (at < packed.Length)
        {
            var codes = packed[at++];
            for (var shift = 6; shift >= 0 && at < packed.Length; shift -= 2)
            {
                switch ((codes >> shift) & 3)
                {
                    case 0:
                        name.Append((char)packed[at++]);
                        break;
                    case 1:
                        name.Append((char)(packed[at++] | high));
                        break;
                    case 2 when at + 1 < packed.Length:
                        name.Append((char)(packed[at] | (packed[at + 1] << 8)));
                        at += 2;
                        break;
                    case 2:
                        return name.ToString();
                    default:
                        at += AppendRun(name, plain, packed[at..], high);
                        break;
                }
            }
        }

        return name.ToString();
    }

    /// <summary>Appends a run of the plain name from the place on that the name has reached.</summary>
    /// <returns>Bytes that describe it.</returns>
    private static int AppendRun(StringBuilder name, ReadOnlySpan<byte> plain, ReadOnlySpan<byte> packed, int high)
    {
        var isCorrected = (packed[0] & 0x80) != 0;
        if (isCorrected && packed.Length < 2)
            return packed.Length;
        for (var left = (packed[0] & 0x7F) + 2; left > 0 && name.Length < plain.Length; left--)
        {
            var letter = plain[name.Length];
            name.Append(isCorrected ? (char)((byte)(letter + packed[1]) | high) : (char)letter);
        }

        return isCorrected ? 2 : 1;
    }
}
