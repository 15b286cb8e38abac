using System.IO.Compression;
using System.Text;
using SharpCompress.Common;
using SharpCompress.Compressors.ZStandard;

namespace Sluice.Server.FamilyImport;

/// <summary>Decodes column text of the old database: plain, base64 Zstandard after <c>ZSTD:</c>, or base64 Brotli. Limits the decoded length.</summary>
internal static class FamilyText
{
    /// <summary>Maximum bytes of decoded text, the same as for an NZB.</summary>
    public const int MaxBytes = 256 << 20;

    private const string ZstdPrefix = "ZSTD:";
    private const int PieceBytes = 64 << 10;

    /// <summary>Whether a column contains plain JSON or XML.</summary>
    public static bool IsPlain(string text) => text.AsSpan().TrimStart() is { Length: > 0 } trimmed && trimmed[0] is '[' or '{' or '<' or '"' or 'n' or '\uFEFF';

    /// <exception cref="FamilyFormatException">The text is truncated, damaged or too long.</exception>
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

    /// <summary>Decompresses a Zstandard blob file. The stream must be seekable and at its start, because it is read twice. It stays open.</summary>
    /// <exception cref="FamilyFormatException">The text is truncated, damaged or too long.</exception>
    public static byte[] ReadBlob(Stream packed) => Unpack(packed, static source => new DecompressionStream(source, leaveOpen: true));

    /// <summary>Decompresses twice. The first pass only measures, so that oversized text allocates nothing and other text allocates exactly once.</summary>
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
        // The decompressors throw any of these if the data is damaged.
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
