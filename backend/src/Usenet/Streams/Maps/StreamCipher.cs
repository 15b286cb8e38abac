namespace Sluice.Usenet.Streams.Maps;

/// <summary>The cipher of an encrypted post: AES-CBC over all slices of the file as one ciphertext, without PKCS padding.</summary>
/// <remarks>Holds no password. Must not be logged. The key has 16 or 32 bytes, the IV 16.</remarks>
public sealed record StreamCipher(ReadOnlyMemory<byte> Key, ReadOnlyMemory<byte> Iv)
{
    /// <summary>
    /// Decrypted bytes before the first byte of the file, 0 to 31; never served. Nonzero only if one ciphertext holds several files (7z). The slices of a later
    /// file then begin one block earlier, because that block serves as the IV.
    /// </summary>
    public int Skip { get; init; }

    public const int BlockLength = 16;

    /// <summary>Returns the ciphertext length for a plaintext length, both in bytes.</summary>
    public static long Padded(long length) => (length + BlockLength - 1) / BlockLength * BlockLength;
}
