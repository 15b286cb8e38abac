using System.Numerics;
using System.Runtime.Intrinsics;

namespace Sluice.Tools.MockNntpServer.Articles;

/// <summary>
/// Encodes data lines as a simple poster does (yEnc draft 1.3): adds 42 to each byte and escapes the critical results NUL, LF, CR and
/// <c>=</c>. Dots at the start of a line are doubled for the transport.
/// </summary>
internal static class YencEncoder
{
    /// <summary>Columns per line. A line is one longer if an escape begins in its last column.</summary>
    public const int LineLength = 128;

    /// <summary>Upper bound of the bytes that <see cref="Encode"/> may write for this much data.</summary>
    public static int MaxEncodedLength(int length) => checked((2 * length) + (3 * ((length / 64) + 2)) + Vector512<byte>.Count);

    /// <summary>Writes data lines, each followed by CRLF.</summary>
    /// <param name="destination">At least <see cref="MaxEncodedLength"/> bytes.</param>
    /// <param name="dots">Number of dot-stuffed lines.</param>
    /// <returns>Bytes written.</returns>
    public static int Encode(ReadOnlySpan<byte> source, Span<byte> destination, out int dots)
    {
        var written = dots = 0;
        while (!source.IsEmpty)
        {
            if (source[0] == unchecked((byte)('.' - 42)))
            {
                destination[written++] = (byte)'.';
                dots++;
            }

            written += EncodeLine(ref source, destination[written..]);
            destination[written++] = (byte)'\r';
            destination[written++] = (byte)'\n';
        }

        return written;
    }

    private static int EncodeLine(ref ReadOnlySpan<byte> source, Span<byte> line)
    {
        int column = 0, read = 0;
        while (column < LineLength && source.Length - read >= Vector512<byte>.Count)
        {
            var block = Vector512.Create(source[read..]) + Vector512.Create((byte)42);
            // Store the whole block, because the next step overwrites bytes after an escape or the end of the line.
            block.CopyTo(line[column..]);
            var critical = (Vector512.Equals(block, Vector512<byte>.Zero) | Vector512.Equals(block, Vector512.Create((byte)'\n'))
                | Vector512.Equals(block, Vector512.Create((byte)'\r')) | Vector512.Equals(block, Vector512.Create((byte)'=')))
                .ExtractMostSignificantBits();
            var plain = Math.Min(BitOperations.TrailingZeroCount(critical), LineLength - column);
            column += plain;
            read += plain;
            if (plain < Vector512<byte>.Count && column < LineLength)
                Escape(source[read++], line, ref column);
        }

        while (column < LineLength && read < source.Length)
        {
            var encoded = unchecked((byte)(source[read] + 42));
            if (encoded is 0 or (byte)'\n' or (byte)'\r' or (byte)'=')
                Escape(source[read], line, ref column);
            else
                line[column++] = encoded;
            read++;
        }

        source = source[read..];
        return column;
    }

    private static void Escape(byte value, Span<byte> line, ref int column)
    {
        line[column++] = (byte)'=';
        line[column++] = unchecked((byte)(value + 42 + 64));
    }
}
