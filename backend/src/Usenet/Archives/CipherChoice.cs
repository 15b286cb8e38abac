using System.Security.Cryptography;
using Sluice.Usenet.Media;
using Sluice.Usenet.Probing;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Archives;

/// <summary>Chooses the cipher for an archive without a password check (IMP-57).</summary>
/// <remarks>Checks the CRC of a file no longer than an article. Otherwise checks that the decrypted magic bytes match the extension.</remarks>
internal static class CipherChoice
{
    /// <summary>Longest file, in bytes, to decrypt whole for a checksum test: about one article, so that the test stays cheap.</summary>
    private const int MaxWholeLength = 1 << 20;

    private const int StretchLength = 256 << 10;

    /// <summary>The error for an archive with no entry to check a password against.</summary>
    public static ArchiveException UncheckablePassword() => new(ArchiveFault.Unsupported, "the password cannot be checked");

    /// <summary>Finds the password of a file by decrypting its first bytes. The CRC covers the whole file; null if the ciphertext is incomplete.</summary>
    /// <returns>The password; null if this file is inconclusive.</returns>
    /// <exception cref="ArchiveException">The file is conclusive, and no password fits.</exception>
    public static async Task<string?> FindAsync(
        string path, long length, IReadOnlyList<ArchiveExtent> text, CipherCandidates ciphers, uint? crc, IVolumeSource source, CancellationToken cancellationToken)
    {
        var extension = NameJudge.ExtensionOf(path[(path.LastIndexOf('/') + 1)..]).ToLowerInvariant();
        var isKnown = Enum.GetValues<MediaKind>().Any(kind => MediaSignature.ExtensionsOf(kind).Contains(extension));
        var isShort = crc is not null && length <= MaxWholeLength;
        if (!isKnown && !isShort && extension.Length > 0)
            return null;

        var joined = new JoinedInput(new SourceInputs(source), new SplitSet(text));
        foreach (var password in ciphers.Passwords)
        {
            var cipher = ciphers.Of(password);
            var wanted = isShort ? length : Math.Min(MediaSignature.SufficientLength, length);
            var plain = new byte[Math.Min(wanted, joined.Length - cipher.Skip)];
            await new CipherInput(joined, cipher, plain.Length).ReadAsync(0, plain, cancellationToken);
            if (isShort && plain.Length == length ? Crc32Kernel.Append(0, plain) == crc : HasBeginningOf(extension, plain))
                return password;
        }

        return isKnown || isShort ? throw RarPasswords.NoneFits() : null;
    }

    public static async Task<uint> ChecksumAsync(IVolumeSource source, ArchiveExtent stretch, CancellationToken cancellationToken)
    {
        var input = source.Open(stretch.Volume);
        var buffer = new byte[Math.Min(StretchLength, stretch.Length)];
        var sum = 0u;
        for (var at = 0L; at < stretch.Length; at += buffer.Length)
        {
            var part = buffer.AsMemory(0, (int)Math.Min(buffer.Length, stretch.Length - at));
            await input.ReadAsync(stretch.Offset + at, part, cancellationToken);
            sum = Crc32Kernel.Append(sum, part.Span);
        }

        return sum;
    }

    // Without an extension, only longer video signatures are enough evidence, because random bytes can match a byte or two.
    private static bool HasBeginningOf(string extension, ReadOnlySpan<byte> plain) => MediaSignature.Recognise(plain) switch
    {
        MediaKind.Unknown => false,
        MediaKind.Matroska or MediaKind.WebM or MediaKind.Mp4 or MediaKind.Avi or MediaKind.Asf when extension.Length == 0 => true,
        var kind => MediaSignature.ExtensionsOf(kind).Contains(extension),
    };
}

/// <summary>Decrypts a ciphertext (AES in CBC mode) while reading; <c>length</c> is the decrypted length. Owns nothing.</summary>
internal sealed class CipherInput(IArchiveInput text, StreamCipher cipher, long length) : IArchiveInput
{
    private const int Block = StreamCipher.BlockLength;

    public long Length => length;

    public async ValueTask ReadAsync(long offset, Memory<byte> buffer, CancellationToken cancellationToken)
    {
        // Start one block earlier, because in CBC mode the previous cipher block is the vector of the first wanted block.
        var begin = (offset + cipher.Skip) / Block * Block;
        var end = StreamCipher.Padded(offset + cipher.Skip + buffer.Length);
        var before = begin == 0 ? 0 : Block;
        var bytes = new byte[end - begin + before];
        await text.ReadAsync(begin - before, bytes, cancellationToken);
        using var aes = Aes.Create();
        aes.Key = cipher.Key.ToArray();
        var iv = before == 0 ? cipher.Iv.ToArray() : bytes[..Block];
        var plain = aes.DecryptCbc(bytes.AsSpan(before), iv, PaddingMode.None);
        plain.AsSpan((int)(offset + cipher.Skip - begin), buffer.Length).CopyTo(buffer.Span);
    }
}

/// <summary>Presents the candidates of a source as inputs and opens each on access.</summary>
internal sealed class SourceInputs(IVolumeSource source) : IReadOnlyList<IArchiveInput>
{
    public int Count => source.Candidates.Count;

    public IArchiveInput this[int index] => source.Open(index);

    public IEnumerator<IArchiveInput> GetEnumerator() => Enumerable.Range(0, Count).Select(source.Open).GetEnumerator();

    System.Collections.IEnumerator System.Collections.IEnumerable.GetEnumerator() => GetEnumerator();
}
