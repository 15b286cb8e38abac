using System.Security.Cryptography;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Archives;

/// <summary>The settings of 7zAES: AES-256 in CBC mode under a key of SHA-256 (the coder 06F10701).</summary>
/// <param name="RoundsLog2">Rounds of the key as a power of two; 63 stands for none.</param>
/// <param name="Salt">Salt of the key in hexadecimal digits.</param>
/// <param name="Iv">The initial vector, 16 bytes.</param>
internal sealed record SevenZipCipher(int RoundsLog2, string Salt, ReadOnlyMemory<byte> Iv)
{
    /// <summary>Bytes of a block.</summary>
    public const int Block = 16;

    private const int MostRoundsLog2 = 20;
    private const int NoRounds = 63;

    /// <summary>
    /// Reads the properties of the coder: rounds in the low 6 bits of the first byte, its high bits and the halves of the second one are the
    /// lengths of salt and vector, which follow.
    /// </summary>
    /// <exception cref="ArchiveException">They are damaged, or ask for more rounds than are done here.</exception>
    public static SevenZipCipher Read(SevenZipCoder coder)
    {
        var cursor = new SevenZipCursor(coder.Properties);
        var first = cursor.ReadByte();
        var rounds = first & 0x3F;
        if (rounds is > MostRoundsLog2 and not NoRounds)
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

    /// <summary>The question for the key of a password.</summary>
    public KeyRequest Ask(string password) => new(KeyScheme.SevenZip, password, Salt, RoundsLog2);

    /// <summary>Decrypts a whole text.</summary>
    /// <param name="text">It; what is past its last whole block is left out.</param>
    /// <param name="key">32 bytes.</param>
    public byte[] Decrypt(ReadOnlyMemory<byte> text, ReadOnlyMemory<byte> key)
    {
        using var aes = Aes.Create();
        aes.Key = key.ToArray();
        return aes.DecryptCbc(text.Span[..(text.Length & ~(Block - 1))], Iv.Span, PaddingMode.None);
    }

    /// <summary>What decrypts a stretch of a text that begins with a block of it.</summary>
    /// <param name="offset">First byte of the stretch in the plain text, 0-based.</param>
    /// <param name="key">32 bytes.</param>
    /// <remarks>The cipher text of a stretch begins at <see cref="FirstByte"/>.</remarks>
    public StreamCipher ForStretch(long offset, ReadOnlyMemory<byte> key)
    {
        var first = FirstByte(offset);
        // Behind the first block of the text no vector is needed: the block in front takes its place, and what comes out of it is left out.
        return new StreamCipher(key, offset < Block ? Iv : new byte[Block]) { Skip = (int)(offset - first) };
    }

    /// <summary>First byte of the cipher text that a stretch needs: of its own block or, behind the first one, of the block in front.</summary>
    public static long FirstByte(long offset) => offset < Block ? 0 : (offset & ~(Block - 1L)) - Block;

    /// <summary>The end of the last block that a stretch needs.</summary>
    public static long RoundUp(long end) => end > long.MaxValue - Block ? long.MaxValue : (end + Block - 1) & ~(Block - 1L);
}
