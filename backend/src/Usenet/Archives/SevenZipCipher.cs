using System.Security.Cryptography;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Archives;

/// <summary>The settings of 7zAES (coder 06F10701): AES-256 in CBC mode with a key derived by SHA-256.</summary>
/// <param name="RoundsLog2">Binary logarithm of the rounds; 63 means no rounds.</param>
/// <param name="Salt">Salt as hexadecimal digits.</param>
/// <param name="Iv">The 16-byte initialization vector.</param>
internal sealed record SevenZipCipher(int RoundsLog2, string Salt, ReadOnlyMemory<byte> Iv)
{
    public const int Block = 16;

    private const int MaxRoundsLog2 = 20;
    private const int NoRounds = 63;

    /// <summary>
    /// Parses the properties of the coder. The low 6 bits of the first byte are the rounds. Its high bits and the halves of the second byte give the
    /// lengths of salt and vector, which follow.
    /// </summary>
    /// <exception cref="ArchiveException">The properties are damaged or require too many rounds.</exception>
    public static SevenZipCipher Read(SevenZipCoder coder)
    {
        var cursor = new SevenZipCursor(coder.Properties);
        var first = cursor.ReadByte();
        var rounds = first & 0x3F;
        if (rounds is > MaxRoundsLog2 and not NoRounds)
            throw new ArchiveException(ArchiveFault.Unsupported, "its key takes too many rounds");
        if ((first & 0xC0) == 0)
            return new SevenZipCipher(rounds, "", new byte[Block]);

        var second = cursor.ReadByte();
        var salt = cursor.Take(((first >> 7) & 1) + (second >> 4));
        var vector = cursor.Take(((first >> 6) & 1) + (second & 0x0F));
        var iv = new byte[Block];
        vector.CopyTo(iv);
        return new SevenZipCipher(rounds, Convert.ToHexString(salt.Span), iv);
    }

    public KeyRequest KeyRequestOf(string password) => new(KeyScheme.SevenZip, password, Salt, RoundsLog2);

    /// <summary>Decrypts a complete ciphertext; ignores bytes after the last whole block.</summary>
    public byte[] Decrypt(ReadOnlyMemory<byte> text, ReadOnlyMemory<byte> key)
    {
        using var aes = Aes.Create();
        aes.Key = key.ToArray();
        return aes.DecryptCbc(text.Span[..(text.Length & ~(Block - 1))], Iv.Span, PaddingMode.None);
    }

    /// <summary>Returns the cipher for a range at the 0-based plain-text <paramref name="offset"/>; its ciphertext begins at <see cref="FirstByte"/>.</summary>
    public StreamCipher ForStretch(long offset, ReadOnlyMemory<byte> key)
    {
        var first = FirstByte(offset);
        // Beyond the first block, the previous block acts as the vector, so a dummy vector suffices; Skip drops the garbled output.
        return new StreamCipher(key, offset < Block ? Iv : new byte[Block]) { Skip = (int)(offset - first) };
    }

    /// <summary>Returns the offset of the first ciphertext byte that a range needs: its own block or, beyond the first block, the previous block.</summary>
    public static long FirstByte(long offset) => offset < Block ? 0 : (offset & ~(Block - 1L)) - Block;

    public static long RoundUp(long end) => end > long.MaxValue - Block ? long.MaxValue : (end + Block - 1) & ~(Block - 1L);
}
