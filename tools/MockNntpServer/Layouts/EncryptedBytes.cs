using System.Buffers;
using System.Security.Cryptography;

namespace Sluice.Tools.MockNntpServer.Layouts;

/// <summary>
/// AES-CBC content that can be computed at any offset. Forward encryption needs all previous bytes, so the ciphertext is synthetic and the
/// plaintext is its decryption, which needs only the previous block. Only the first 64 KiB are encrypted forward, so that a file begins
/// with its magic bytes (contract TST-52).
/// </summary>
/// <param name="Cipher">The ciphertext; as long as the plaintext, rounded up to 16.</param>
internal sealed record EncryptedBytes(MockBytes Plain, MockBytes Cipher)
{
    private const int BlockLength = 16;
    private const int Forward = 64 << 10;

    /// <summary>Number of plaintext bytes that can be given. Later bytes follow from the ciphertext.</summary>
    public const int GivenLength = Forward;

    /// <summary>Largest plaintext to encrypt in memory.</summary>
    private const int MostInMemory = 64 << 20;

    /// <param name="start">First 64 KiB of the plaintext, or all if it is shorter.</param>
    /// <param name="stream">Synthetic bytes, at least as long as the ciphertext.</param>
    /// <param name="key">16 or 32 bytes.</param>
    public static EncryptedBytes Make(MockBytes start, long length, MockBytes stream, byte[] key, byte[] iv)
    {
        var padded = Padded(length);
        var forward = (int)Math.Min(Forward, padded);
        var head = MockBytes.Of(forward, () => Encrypt(start.Slice(0, Math.Min(start.Length, forward)), forward, key, iv));
        var cipher = MockBytes.Join([head, stream.Slice(forward, padded - forward)]);
        return new EncryptedBytes(new Decrypted(cipher, length, key, iv), cipher);
    }

    /// <summary>Encrypts given content in memory, such as a nested archive.</summary>
    public static EncryptedBytes Of(MockBytes plain, byte[] key, byte[] iv)
    {
        if (plain.Length > MostInMemory)
            throw new ArgumentException($"Encrypted content that is given has at most {MostInMemory} bytes.");
        var padded = (int)Padded(plain.Length);
        return new EncryptedBytes(plain, MockBytes.Of(padded, () => Encrypt(plain, padded, key, iv)));
    }

    /// <summary>Encrypts a header, zero-padded to whole blocks.</summary>
    public static byte[] Encrypt(ReadOnlySpan<byte> header, byte[] key, byte[] iv)
    {
        var padded = new byte[Padded(header.Length)];
        header.CopyTo(padded);
        using var aes = NewAes(key);
        return aes.EncryptCbc(padded, iv, PaddingMode.None);
    }

    public static long Padded(long length) => (length + BlockLength - 1) / BlockLength * BlockLength;

    private static byte[] Encrypt(MockBytes plain, int padded, byte[] key, byte[] iv)
    {
        var text = new byte[padded];
        plain.Fill(0, text.AsSpan(0, (int)plain.Length));
        return Encrypt(text, key, iv);
    }

    private static Aes NewAes(byte[] key)
    {
        var aes = Aes.Create();
        aes.Key = key;
        return aes;
    }

    private sealed class Decrypted(MockBytes cipher, long length, byte[] key, byte[] iv) : MockBytes(length)
    {
        protected override void Compute(long offset, Span<byte> destination)
        {
            var first = offset / BlockLength * BlockLength;
            var count = (int)(Padded(offset + destination.Length) - first);
            var buffer = ArrayPool<byte>.Shared.Rent(BlockLength + (2 * count));
            var before = buffer.AsSpan(0, BlockLength);
            var text = buffer.AsSpan(BlockLength, count);
            var plain = buffer.AsSpan(BlockLength + count, count);
            if (first == 0)
                iv.CopyTo(before);
            else
                cipher.Fill(first - BlockLength, before);
            cipher.Fill(first, text);
            using (var aes = NewAes(key))
                aes.DecryptCbc(text, before, plain, PaddingMode.None);
            plain.Slice((int)(offset - first), destination.Length).CopyTo(destination);
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }
}
