namespace Sluice.Usenet.Streams.Maps;

/// <summary>What decrypts a file that was posted encrypted: AES in CBC mode over all its slices as one text, without padding of its own.</summary>
/// <remarks>Holds no password. Never written to a log.</remarks>
/// <param name="Key">16 or 32 bytes.</param>
/// <param name="Iv">16 bytes.</param>
public sealed record StreamCipher(ReadOnlyMemory<byte> Key, ReadOnlyMemory<byte> Iv)
{
    /// <summary>Bytes of one block of AES.</summary>
    public const int BlockLength = 16;

    /// <summary>Bytes of cipher text that hold so many bytes of plain text.</summary>
    public static long Padded(long length) => (length + BlockLength - 1) / BlockLength * BlockLength;
}
