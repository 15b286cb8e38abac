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
    /// <summary>Longest plain text in bytes.</summary>
    public const int MaxBytes = 512 << 20;

    private const string ZstdPrefix = "ZSTD:";

    /// <summary>Whether a column holds JSON or XML as it is.</summary>
    public static bool IsPlain(string text) => text.AsSpan().TrimStart() is { Length: > 0 } trimmed && trimmed[0] is '[' or '{' or '<' or '"' or 'n' or '\uFEFF';

    /// <summary>The plain text as UTF-8.</summary>
    /// <exception cref="FamilyFormatException">It is cut short, damaged or too long.</exception>
    public static byte[] Read(string text)
    {
        try
        {
            if (text.StartsWith(ZstdPrefix, StringComparison.Ordinal))
                return Unpack(new DecompressionStream(new MemoryStream(Convert.FromBase64String(text[ZstdPrefix.Length..])), leaveOpen: false));
            if (IsPlain(text))
                return Encoding.UTF8.GetBytes(text);
            return Unpack(new BrotliStream(new MemoryStream(Convert.FromBase64String(text)), CompressionMode.Decompress));
        }
        catch (FormatException e)
        {
            throw new FamilyFormatException("what the old database says about it cannot be read", e);
        }
    }

    /// <summary>The content of a blob file, which is Zstandard.</summary>
    /// <param name="packed">The file; is disposed.</param>
    /// <exception cref="FamilyFormatException">It is cut short, damaged or too long.</exception>
    public static byte[] ReadBlob(Stream packed) => Unpack(new DecompressionStream(packed, leaveOpen: false));

    private static byte[] Unpack(Stream packed)
    {
        try
        {
            using (packed)
            {
                using var plain = new MemoryStream();
                var buffer = new byte[64 << 10];
                while (packed.Read(buffer) is var read and > 0)
                {
                    if (plain.Length + read > MaxBytes)
                        throw new FamilyFormatException("what it is made of is longer than can be");
                    plain.Write(buffer, 0, read);
                }

                return plain.ToArray();
            }
        }
        // The readers of both formats run into all of these on some damage.
        catch (Exception e) when (e is InvalidDataException or EndOfStreamException or SharpCompressException or ZstdException or InvalidOperationException or ArgumentException or IndexOutOfRangeException)
        {
            throw new FamilyFormatException("what the old database says about it is damaged or cut short", e);
        }
    }
}
