using System.Buffers.Binary;
using System.Text;

namespace Sluice.Testing;

/// <summary>Pictures with a right header, and bytes of a seed behind it.</summary>
public static class TestPictures
{
    public static byte[] WebP(int width, int height, int length = 1_000, int seed = 0)
    {
        var file = Filled(length, seed);
        "RIFF"u8.CopyTo(file);
        BinaryPrimitives.WriteInt32LittleEndian(file.AsSpan(4), length - 8);
        "WEBPVP8 "u8.CopyTo(file.AsSpan(8));
        BinaryPrimitives.WriteInt32LittleEndian(file.AsSpan(16), length - 20);
        ReadOnlySpan<byte> frame = [0x10, 0x00, 0x00, 0x9D, 0x01, 0x2A];
        frame.CopyTo(file.AsSpan(20));
        BinaryPrimitives.WriteUInt16LittleEndian(file.AsSpan(26), (ushort)width);
        BinaryPrimitives.WriteUInt16LittleEndian(file.AsSpan(28), (ushort)height);
        return file;
    }

    public static byte[] LosslessWebP(int width, int height)
    {
        var file = WebP(1, 1);
        "VP8L"u8.CopyTo(file.AsSpan(12));
        file[20] = 0x2F;
        BinaryPrimitives.WriteUInt32LittleEndian(file.AsSpan(21), (uint)(width - 1) | (uint)(height - 1) << 14);
        return file;
    }

    public static byte[] ExtendedWebP(int width, int height, byte flags = 0)
    {
        var file = WebP(1, 1);
        "VP8X"u8.CopyTo(file.AsSpan(12));
        (file[20], file[24], file[25], file[26]) = (flags, (byte)(width - 1), (byte)((width - 1) >> 8), (byte)((width - 1) >> 16));
        (file[27], file[28], file[29]) = ((byte)(height - 1), (byte)((height - 1) >> 8), (byte)((height - 1) >> 16));
        return file;
    }

    public static byte[] Png(int width, int height, int length = 1_000, int seed = 0)
    {
        var file = Filled(length, seed);
        ReadOnlySpan<byte> start = [0x89, (byte)'P', (byte)'N', (byte)'G', 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13];
        start.CopyTo(file);
        "IHDR"u8.CopyTo(file.AsSpan(12));
        BinaryPrimitives.WriteInt32BigEndian(file.AsSpan(16), width);
        BinaryPrimitives.WriteInt32BigEndian(file.AsSpan(20), height);
        return file;
    }

    /// <summary>A JPEG with a comment and padding before its frame header.</summary>
    public static byte[] Jpeg(int width, int height, int length = 1_000, int seed = 0)
    {
        var file = Filled(length, seed);
        ReadOnlySpan<byte> start = [0xFF, 0xD8, 0xFF, 0xFE, 0x00, 0x04, (byte)'h', (byte)'i', 0xFF, 0xFF, 0xC2, 0x00, 0x11, 0x08];
        start.CopyTo(file);
        BinaryPrimitives.WriteUInt16BigEndian(file.AsSpan(14), (ushort)height);
        BinaryPrimitives.WriteUInt16BigEndian(file.AsSpan(16), (ushort)width);
        return file;
    }

    public static byte[] Text(string text) => Encoding.UTF8.GetBytes(text);

    private static byte[] Filled(int length, int seed)
    {
        var bytes = new byte[length];
        new Random(seed).NextBytes(bytes);
        return bytes;
    }
}
