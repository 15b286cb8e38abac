using System.IO.Compression;
using System.Text;
using SharpCompress.Common;
using SharpCompress.Compressors.ZStandard;

namespace Sluice.Server.FamilyImport;

/// <summary>
/// Text of the old database as it stands in a column: plain, Zstandard in base64 behind <c>ZSTD:</c>, or Brotli in base64. Pure, and bounded.
/// </summary>
internal static class FamilyText
{
    /// <summary>Longest plain text in bytes: that of an NZB.</summary>
    public const int MaxBytes = 256 << 20;

    private const string ZstdPrefix = "ZSTD:";
    private const int PieceBytes = 64 << 10;

    /// <summary>Whether a column holds JSON or XML as it is.</summary>
    public static bool IsPlain(string text) => text.AsSpan().TrimStart() is { Length: > 0 } trimmed && trimmed[0] is '[' or '{' or '<' or '"' or 'n' or '\uFEFF';

    /// <summary>The plain text as UTF-8.</summary>
    /// <exception cref="FamilyFormatException">It is cut short, damaged or too long.</exception>
    public static byte[] Read(string text)
    {
        try
        {
            var isZstd = text.StartsWith(ZstdPrefix, StringComparison.Ordinal);
            if (!isZstd && IsPlain(text))
                return Encoding.UTF8.GetBytes(text);
            using var packed = new MemoryStream(Convert.FromBase64String(isZstd ? text[ZstdPrefix.Length..] : text));
            return isZstd ? ReadBlob(packed) : Unpack(packed, source => new BrotliStream(source, CompressionMode.Decompress, leaveOpen: true));
        }
        catch (FormatException e)
        {
            throw new FamilyFormatException("what the old database says about it cannot be read", e);
        }
    }

    /// <summary>The content of a blob file, which is Zstandard.</summary>
    /// <param name="packed">The file at its begin; can be read again from there, and stays open.</param>
    /// <exception cref="FamilyFormatException">It is cut short, damaged or too long.</exception>
    public static byte[] ReadBlob(Stream packed) => Unpack(packed, static source => new DecompressionStream(source, leaveOpen: true));

    /// <summary>Unpacks twice, first to measure: a text that is too long costs no memory, and any other its own length once.</summary>
    private static byte[] Unpack(Stream packed, Func<Stream, Stream> open)
    {
        try
        {
            var plain = new byte[Measure(packed, open)];
            packed.Position = 0;
            using var text = open(packed);
            text.ReadExactly(plain);
            return plain;
        }
        // The readers of both formats run into all of these on some damage.
        catch (Exception e) when (e is InvalidDataException or EndOfStreamException or SharpCompressException or ZstdException or InvalidOperationException or ArgumentException or IndexOutOfRangeException)
        {
            throw new FamilyFormatException("what the old database says about it is damaged or cut short", e);
        }
    }

    private static int Measure(Stream packed, Func<Stream, Stream> open)
    {
        using var text = open(packed);
        var (piece, length) = (new byte[PieceBytes], 0);
        while (text.Read(piece) is var read and > 0)
        {
            if ((length += read) > MaxBytes)
                throw new FamilyFormatException("what it is made of is longer than can be");
        }

        return length;
    }
}
