using System.Text;

namespace Sluice.Usenet.Archives;

/// <summary>Decodes file names of RAR 2.9 to 4. Pure.</summary>
/// <remarks>
/// A name is in the code page of the packing system. With the Unicode flag it is UTF-8 or, if it contains a zero byte, a plain name before the
/// zero and a compressed UTF-16 form after it.
/// </remarks>
internal static class Rar4Name
{
    private static readonly UTF8Encoding Strict = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    /// <summary>Returns the name with <c>/</c> as separator.</summary>
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
            // Latin-1, because the code page is unknown and Latin-1 keeps every byte.
            return Encoding.Latin1.GetString(bytes);
        }
    }

    /// <summary>
    /// Unpacks one high byte for the whole name, then groups of four 2-bit codes, highest first. 0: a low byte; 1: a low byte with the high byte;
    /// 2: both bytes; 3: a run of the plain name, with a correction and the high byte if the top bit of its length is set. Truncation ends the name.
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

    /// <summary>Appends a run of the plain name, starting at the current length, and returns the number of packed bytes used.</summary>
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
