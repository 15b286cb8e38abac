using System.Buffers.Binary;

namespace Sluice.Usenet.Media;

/// <summary>Kind and size of a JPEG, PNG or WebP, read from its header. Pure.</summary>
/// <param name="Kind">One of <see cref="MediaKind.Jpeg"/>, <see cref="MediaKind.Png"/> and <see cref="MediaKind.WebP"/>.</param>
/// <param name="Width">In pixels, at least 1.</param>
/// <param name="Height">In pixels, at least 1.</param>
public readonly record struct PictureHeader(MediaKind Kind, int Width, int Height)
{
    // More segments before the frame header than any encoder writes.
    private const int MaxJpegSegments = 64;

    /// <summary>Reads the header of a whole file. Null if the file is not a still picture of these kinds, or ends within the header.</summary>
    public static PictureHeader? Read(ReadOnlySpan<byte> file)
    {
        var kind = MediaSignature.Recognise(file);
        var size = kind switch
        {
            MediaKind.Jpeg => ReadJpeg(file),
            MediaKind.Png => ReadPng(file),
            MediaKind.WebP => ReadWebP(file),
            _ => null,
        };
        return size is { Width: > 0, Height: > 0 } known ? new PictureHeader(kind, known.Width, known.Height) : null;
    }

    private static (int Width, int Height)? ReadJpeg(ReadOnlySpan<byte> file)
    {
        var at = 2;
        for (var segments = 0; segments < MaxJpegSegments && at + 4 <= file.Length && file[at] == 0xFF; segments++)
        {
            var marker = file[at + 1];
            // Fill bytes may precede a marker.
            if (marker == 0xFF)
            {
                at++;
                continue;
            }

            var length = BinaryPrimitives.ReadUInt16BigEndian(file[(at + 2)..]);
            // SOF0 to SOF15, but not DHT, JPG and DAC, whose numbers lie in between.
            if (marker is >= 0xC0 and <= 0xCF and not (0xC4 or 0xC8 or 0xCC))
            {
                return at + 9 <= file.Length
                    ? (BinaryPrimitives.ReadUInt16BigEndian(file[(at + 7)..]), BinaryPrimitives.ReadUInt16BigEndian(file[(at + 5)..]))
                    : null;
            }

            if (marker == 0xDA || length < 2)
                return null;
            at += 2 + length;
        }

        return null;
    }

    private static (int Width, int Height)? ReadPng(ReadOnlySpan<byte> file)
    {
        if (file.Length < 33 || !file[12..].StartsWith("IHDR"u8) || file.IndexOf("acTL"u8) >= 0)
            return null;
        var (width, height) = (BinaryPrimitives.ReadUInt32BigEndian(file[16..]), BinaryPrimitives.ReadUInt32BigEndian(file[20..]));
        return width <= int.MaxValue && height <= int.MaxValue ? ((int)width, (int)height) : null;
    }

    private static (int Width, int Height)? ReadWebP(ReadOnlySpan<byte> file)
    {
        if (file.Length < 30)
            return null;
        var chunk = file[12..16];
        var data = file[20..];
        if (chunk.SequenceEqual("VP8 "u8))
        {
            // A frame tag of three bytes, then the start code.
            return data[3..].StartsWith((ReadOnlySpan<byte>)[0x9D, 0x01, 0x2A])
                ? (BinaryPrimitives.ReadUInt16LittleEndian(data[6..]) & 0x3FFF, BinaryPrimitives.ReadUInt16LittleEndian(data[8..]) & 0x3FFF)
                : null;
        }

        if (chunk.SequenceEqual("VP8L"u8))
        {
            var bits = BinaryPrimitives.ReadUInt32LittleEndian(data[1..]);
            return data[0] == 0x2F ? ((int)(bits & 0x3FFF) + 1, (int)(bits >> 14 & 0x3FFF) + 1) : null;
        }

        const int animated = 0x02;
        return chunk.SequenceEqual("VP8X"u8) && (data[0] & animated) == 0 ? (ReadUInt24(data[4..]) + 1, ReadUInt24(data[7..]) + 1) : null;
    }

    private static int ReadUInt24(ReadOnlySpan<byte> bytes) => bytes[0] | bytes[1] << 8 | bytes[2] << 16;
}
