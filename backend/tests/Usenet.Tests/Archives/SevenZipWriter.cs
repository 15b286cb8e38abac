using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Tests.Archives;

/// <summary>Writes 7z archives of kinds that the usual programs do not write.</summary>
internal static class SevenZipWriter
{
    public static readonly byte[] Copy = [0x01, 0x00];

    private const int StartSize = 32;

    /// <summary>Returns an AES coder without rounds and with an initial vector.</summary>
    public static byte[] Aes(byte[] iv, byte rounds = 0) => [0x24, 0x06, 0xF1, 0x07, 0x01, 18, (byte)(0x40 | rounds), 0x0F, .. iv];

    /// <summary>Joins a start header, data and a header.</summary>
    public static byte[] Close(byte[] data, byte[] header)
    {
        byte[] archive = [(byte)'7', (byte)'z', 0xBC, 0xAF, 0x27, 0x1C, 0, 4, .. new byte[24], .. data, .. header];
        BinaryPrimitives.WriteInt64LittleEndian(archive.AsSpan(12), data.Length);
        BinaryPrimitives.WriteInt64LittleEndian(archive.AsSpan(20), header.Length);
        Reseal(archive);
        return archive;
    }

    /// <summary>Corrects the checksums of the start header, if the header that it points to exists.</summary>
    public static void Reseal(byte[] archive)
    {
        if (archive.Length < StartSize)
            return;
        var offset = BinaryPrimitives.ReadInt64LittleEndian(archive.AsSpan(12));
        var size = BinaryPrimitives.ReadInt64LittleEndian(archive.AsSpan(20));
        if (offset >= 0 && size >= 0 && offset <= archive.Length - StartSize && size <= archive.Length - StartSize - offset)
        {
            var header = archive.AsSpan(StartSize + (int)offset, (int)size);
            BinaryPrimitives.WriteUInt32LittleEndian(archive.AsSpan(28), Crc32Kernel.Append(0, header));
        }

        BinaryPrimitives.WriteUInt32LittleEndian(archive.AsSpan(8), Crc32Kernel.Append(0, archive.AsSpan(12, 20)));
    }

    /// <summary>Returns an archive whose files share one stream, packed by one or two coders; the first coder is the last to unpack.</summary>
    public static byte[] OneText(IReadOnlyList<(string Name, byte[] Bytes)> files, byte[] packed, params byte[][] coders)
    {
        byte[] header =
        [
            0x01, 0x04,
            .. Streams(0, packed.Length, files.Sum(file => file.Bytes.Length), crc: null, coders),
            0x08, 0x0D, .. Number(files.Count), 0x09, .. files.SkipLast(1).SelectMany(file => Number(file.Bytes.Length)),
            0x0A, 0x01, .. files.SelectMany(file => Crc(file.Bytes)), 0x00,
            0x00,
            .. FilesInfo([.. files.Select(file => file.Name)]),
            0x00,
        ];
        return Close(packed, header);
    }

    /// <summary>Returns a list of files.</summary>
    public static byte[] FilesInfo(IReadOnlyList<string> names)
    {
        byte[] text = [0, .. names.SelectMany(name => Encoding.Unicode.GetBytes(name + "\0"))];
        return [0x05, .. Number(names.Count), 0x19, 3, 0, 0, 0, 0x11, .. Number(text.Length), .. text, 0x00];
    }

    /// <summary>Returns a header that is packed into one stream.</summary>
    public static byte[] EncodedHeader(long offset, long packedLength, long length, byte[]? plain, params byte[][] coders) =>
        [0x17, .. Streams(offset, packedLength, length, plain is null ? null : Crc(plain), coders), 0x00];

    /// <summary>Returns position and coders of a stream.</summary>
    public static byte[] Streams(long offset, long packedLength, long length, byte[]? crc, params byte[][] coders) =>
    [
        0x06, .. Number(offset), 1, 0x09, .. Number(packedLength), 0x00,
        0x07, 0x0B, 1, 0x00, (byte)coders.Length, .. coders.SelectMany(coder => coder),
        // Binds the input of each coder to the output of the next.
        .. Enumerable.Range(0, coders.Length - 1).SelectMany(i => (byte[])[(byte)i, (byte)(i + 1)]),
        0x0C, .. coders.SelectMany(_ => Number(length)),
        .. crc is null ? Array.Empty<byte>() : [0x0A, 0x01, .. crc],
        0x00,
    ];

    /// <summary>Encodes a number in the longest form, which fits every value.</summary>
    public static byte[] Number(long value)
    {
        var number = new byte[9];
        number[0] = 0xFF;
        BinaryPrimitives.WriteInt64LittleEndian(number.AsSpan(1), value);
        return number;
    }

    public static byte[] Encrypt(byte[] plain, byte[] key, byte[] iv)
    {
        using var aes = System.Security.Cryptography.Aes.Create();
        aes.Key = key;
        byte[] text = [.. plain, .. new byte[(16 - (plain.Length % 16)) % 16]];
        return aes.EncryptCbc(text, iv, PaddingMode.None);
    }

    private static byte[] Crc(byte[] bytes)
    {
        var crc = new byte[4];
        BinaryPrimitives.WriteUInt32LittleEndian(crc, Crc32Kernel.Append(0, bytes));
        return crc;
    }
}
