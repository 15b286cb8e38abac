using System.Buffers.Binary;
using SharpCompress.Common;
using SharpCompress.Compressors.LZMA;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Archives;

/// <summary>Unpacks compressed or encrypted 7z headers within limits (IMP-56). For one archive; not thread-safe.</summary>
internal sealed class SevenZipUnpacker(ArchiveKeys keys, ArchiveBudget budget)
{
    // LZMA cannot exceed this ratio: its longest match, 273 bytes, costs at least 14 decisions of 0.022 bits, which is 1 : 7,114.
    private const int MaxRatio = 7200;

    private const int MinDictionary = 4096;
    private const int LzmaProperties = 5;
    private const int MaxLzma2Dictionary = 28;

    /// <summary>The password that opened an encrypted header; null if no header was encrypted.</summary>
    public string? Password { get; private set; }

    /// <exception cref="ArchiveException">The header is damaged, no password opens it, or its packing is not supported.</exception>
    public async Task<ReadOnlyMemory<byte>> UnpackAsync(SevenZipFolder folder, ReadOnlyMemory<byte> packed, CancellationToken cancellationToken)
    {
        budget.TakeUnpacked(folder.Length);
        if (folder.Cipher is null)
            return Run(folder, packed, default) ?? throw new ArchiveException(ArchiveFault.Broken, "its header does not unpack");
        if (folder.Crc is null)
            throw new ArchiveException(ArchiveFault.Unsupported, "the password cannot be checked");
        if (keys.Passwords.Count == 0)
            throw new ArchiveException(ArchiveFault.NoPassword, "its header is encrypted");

        return await keys.SearchAsync(() => Task.FromResult(Decrypt(folder, SevenZipCipher.Read(folder.Cipher), packed)), cancellationToken);
    }

    private ReadOnlyMemory<byte> Decrypt(SevenZipFolder folder, SevenZipCipher cipher, ReadOnlyMemory<byte> packed)
    {
        foreach (var password in Password is null ? keys.Passwords : [Password])
        {
            if (Run(folder, packed, keys.Get(cipher.KeyRequestOf(password)).Key) is not { } header)
                continue;
            keys.Prefer(Password = password);
            return header;
        }

        throw new ArchiveException(ArchiveFault.WrongPassword, "no password opens its header");
    }

    // Null if the output is damaged, for example because the key is wrong.
    private static ReadOnlyMemory<byte>? Run(SevenZipFolder folder, ReadOnlyMemory<byte> packed, ReadOnlyMemory<byte> key)
    {
        if (folder.Chain is null)
            throw NotSupported(folder);
        ReadOnlyMemory<byte>? bytes = packed;
        foreach (var index in folder.Chain)
        {
            var (coder, length) = (folder.Coders[index], folder.OutputLengths[index]);
            bytes = coder.Id switch
            {
                SevenZipCoder.Copy => bytes,
                SevenZipCoder.Aes => SevenZipCipher.Read(coder).Decrypt(bytes.Value, key),
                SevenZipCoder.Lzma or SevenZipCoder.Lzma2 => Inflate(coder, bytes.Value, length),
                _ => throw NotSupported(folder),
            };
            if (bytes is null || bytes.Value.Length < length)
                return null;
            bytes = bytes.Value[..(int)length];
        }

        return folder.Crc is null || Crc32Kernel.Append(0, bytes.Value.Span) == folder.Crc ? bytes : null;
    }

    private static byte[]? Inflate(SevenZipCoder coder, ReadOnlyMemory<byte> packed, long length)
    {
        if (length > ArchiveBudget.MaxUnpacked || length > (long)packed.Length * MaxRatio || Properties(coder, (int)length) is not { } properties)
            return null;
        // The first byte of the range coder is always 0, so this check rejects all but one in 256 wrong keys.
        var isLzma2 = coder.Id == SevenZipCoder.Lzma2;
        if (!isLzma2 && packed.Span[0] != 0)
            return null;

        try
        {
            using var stream = LzmaStream.Create(
                properties, new MemoryStream(packed.ToArray(), writable: false), packed.Length, length, presetDictionary: null, isLzma2, leaveOpen: false);
            var bytes = new byte[(int)length];
            return stream.ReadAtLeast(bytes, bytes.Length, throwOnEndOfStream: false) == bytes.Length ? bytes : null;
        }
        catch (Exception e) when (e is SharpCompressException or IOException or InvalidOperationException or ArgumentException
                                      or IndexOutOfRangeException or NullReferenceException)
        {
            // Damaged data can make the decoder index past its tables or use a table that does not exist.
            return null;
        }
    }

    // Shrinks the declared dictionary to the size the header needs, to save memory; null if the properties are invalid.
    private static byte[]? Properties(SevenZipCoder coder, int length)
    {
        var properties = coder.Properties.ToArray();
        if (coder.Id == SevenZipCoder.Lzma2)
        {
            if (properties is not [<= 40])
                return null;
            byte smallest = 0;
            while (smallest < MaxLzma2Dictionary && (2L | (smallest & 1)) << ((smallest >> 1) + 11) < length)
                smallest++;
            return [Math.Min(properties[0], smallest)];
        }

        if (properties.Length != LzmaProperties || properties[0] >= 9 * 5 * 5)
            return null;
        var declared = BinaryPrimitives.ReadUInt32LittleEndian(properties.AsSpan(1));
        BinaryPrimitives.WriteInt32LittleEndian(properties.AsSpan(1), (int)Math.Clamp(declared, MinDictionary, (uint)Math.Max(length, MinDictionary)));
        return properties;
    }

    private static ArchiveException NotSupported(SevenZipFolder folder) =>
        new(ArchiveFault.Unsupported, $"its header is packed with {folder.Method ?? "AES"}");
}
