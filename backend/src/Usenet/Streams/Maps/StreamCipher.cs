namespace Sluice.Usenet.Streams.Maps;

/// <summary>What decrypts a file that was posted encrypted: AES in CBC mode over all its slices as one text, without padding of its own.</summary>
/// <remarks>Holds no password. Never written to a log.</remarks>
/// <param name="Key">16 or 32 bytes.</param>
/// <param name="Iv">16 bytes.</param>
public sealed record StreamCipher(ReadOnlyMemory<byte> Key, ReadOnlyMemory<byte> Iv)
{
    /// <summary>
    /// Bytes of the decrypted text before the first byte of the file, 0 to 31; they are not the file's and never leave. Not 0 only where one
    /// text holds several files (7z): the slices of a later one then begin one block earlier, which takes the place of its initial vector.
    /// </summary>
    public int Skip { get; init; }

    /// <summary>Bytes of one block of AES.</summary>
    public const int BlockLength = 16;

    /// <summary>Bytes of cipher text that hold so many bytes of plain text.</summary>
    public static long Padded(long length) => (length + BlockLength - 1) / BlockLength * BlockLength;
}
