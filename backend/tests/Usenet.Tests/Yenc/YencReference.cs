using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Tests.Yenc;

/// <summary>
/// The rules of NNTP bodies and yEnc, applied to a whole input with access to every position. It has no state machine and shares no
/// code with the kernels.
/// </summary>
internal static class YencReference
{
    public static Outcome Decode(ReadOnlySpan<byte> raw)
    {
        var output = new List<byte>(raw.Length);
        var stops = new List<(YencStop, int)>();
        var escaped = false;
        var i = 0;
        while (i < raw.Length)
        {
            if (i == 0 || (i >= 2 && raw[i - 2] == '\r' && raw[i - 1] == '\n'))
            {
                var line = raw[i..];
                if (line.StartsWith(".\r\n"u8))
                {
                    stops.Add((YencStop.ArticleEnd, i + 3));
                    return new Outcome([.. output], stops);
                }

                var keyword = line.StartsWith("=y"u8) ? 2 : line.StartsWith(".=y"u8) ? 3 : 0;
                if (keyword != 0)
                {
                    i += keyword;
                    stops.Add((YencStop.Keyword, i));
                    continue;
                }

                if (raw[i] == '.')
                {
                    i++;
                    continue;
                }
            }

            var b = raw[i++];
            if (escaped)
            {
                output.Add((byte)(b - 106));
                escaped = false;
            }
            else if (b == '=')
            {
                escaped = true;
            }
            else if (b is not (byte)'\r' and not (byte)'\n')
            {
                output.Add((byte)(b - 42));
            }
        }

        return new Outcome([.. output], stops);
    }

    /// <summary>All decoded bytes, and the positions after keyword lines and after the article's end.</summary>
    public sealed record Outcome(byte[] Output, List<(YencStop Stop, int Position)> Stops);

    /// <summary>Computes CRC-32 bit by bit.</summary>
    public static uint Crc(ReadOnlySpan<byte> bytes)
    {
        var register = uint.MaxValue;
        foreach (var b in bytes)
        {
            for (var bit = 0; bit < 8; bit++)
            {
                var carry = ((register ^ (uint)(b >> bit)) & 1) != 0;
                register >>= 1;
                if (carry)
                    register ^= 0xEDB88320;
            }
        }

        return ~register;
    }
}
