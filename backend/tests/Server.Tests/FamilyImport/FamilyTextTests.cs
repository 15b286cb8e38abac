using System.IO.Compression;
using System.Text;
using Sluice.Server.FamilyImport;
using Xunit;

namespace Sluice.Server.Tests.FamilyImport;

public sealed class FamilyTextTests
{
    [Fact]
    public void Decompression_bomb_is_refused_with_little_memory()
    {
        var bomb = Packed(FamilyText.MaxBytes + 1L);
        var before = GC.GetAllocatedBytesForCurrentThread();

        Assert.Throws<FamilyFormatException>(() => FamilyText.Read(bomb));

        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 4 << 20);
    }

    [Fact]
    public void Decompressed_text_is_allocated_only_once()
    {
        var packed = Packed(8 << 20);
        var before = GC.GetAllocatedBytesForCurrentThread();

        Assert.Equal(8 << 20, FamilyText.Read(packed).Length);

        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 8 << 20, 12 << 20);
    }

    [Theory]
    [InlineData("[1]")]
    [InlineData("")]
    public void Compressed_text_is_read_back_unchanged(string text)
    {
        var packed = new MemoryStream();
        using (var brotli = new BrotliStream(packed, CompressionLevel.Fastest, leaveOpen: true))
            brotli.Write(Encoding.UTF8.GetBytes(text));

        Assert.Equal(text, Encoding.UTF8.GetString(FamilyText.Read(Convert.ToBase64String(packed.ToArray()))));
    }

    /// <summary>Compresses zeros in the format of the old server.</summary>
    private static string Packed(long length)
    {
        var packed = new MemoryStream();
        using (var brotli = new BrotliStream(packed, CompressionLevel.Fastest, leaveOpen: true))
        {
            for (var piece = new byte[1 << 20]; length > 0; length -= piece.Length)
                brotli.Write(piece, 0, (int)Math.Min(piece.Length, length));
        }

        return Convert.ToBase64String(packed.ToArray());
    }
}
