using System.Security.Cryptography;
using Sluice.Usenet.Media;
using Sluice.Usenet.Probing;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Archives;

/// <summary>
/// Finds the cipher that fits where an archive has nothing to check a password with: by the beginning that the file has by its extension, else by
/// the checksum of a file that is as short as an article (IMP-57).
/// </summary>
internal static class CipherChoice
{
    /// <summary>Longest file, in bytes, that is decrypted whole to see whether its checksum fits: about an article.</summary>
    private const int LongestWhole = 1 << 20;

    private const int StretchLength = 256 << 10;

    /// <summary>The error of an archive whose password nothing can tell.</summary>
    public static ArchiveException CannotTell() => new(ArchiveFault.Unsupported, "the password cannot be checked");

    /// <summary>Finds the cipher of a file.</summary>
    /// <param name="path">Its path, for its extension.</param>
    /// <param name="length">Its length.</param>
    /// <param name="text">Where its cipher text lies in the source; of a file in several volumes the beginning is enough.</param>
    /// <param name="ciphers">What may decrypt it.</param>
    /// <param name="crc">CRC-32 of the whole file, where the text is; else null.</param>
    /// <param name="source">Where it lies.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <returns>The password of the cipher; null where nothing can be told by this file.</returns>
    /// <exception cref="ArchiveException">It can be told that none of them fits.</exception>
    public static async Task<string?> FindAsync(
        string path, long length, IReadOnlyList<ArchiveExtent> text, CipherCandidates ciphers, uint? crc, IVolumeSource source, CancellationToken cancellationToken)
    {
        var extension = NameJudge.ExtensionOf(path[(path.LastIndexOf('/') + 1)..]).ToLowerInvariant();
        var isKnown = Enum.GetValues<MediaKind>().Any(kind => MediaSignature.ExtensionsOf(kind).Contains(extension));
        var isShort = crc is not null && length <= LongestWhole;
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

    /// <summary>CRC-32 of a stretch.</summary>
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

    // Of a file without extension the beginning of a film is proof enough, where it is of more than a byte or two.
    private static bool HasBeginningOf(string extension, ReadOnlySpan<byte> plain) => MediaSignature.Recognise(plain) switch
    {
        MediaKind.Unknown => false,
        MediaKind.Matroska or MediaKind.WebM or MediaKind.Mp4 or MediaKind.Avi or MediaKind.Asf when extension.Length == 0 => true,
        var kind => MediaSignature.ExtensionsOf(kind).Contains(extension),
    };
}

/// <summary>Reads a text that is encrypted as AES in CBC mode.</summary>
/// <param name="text">The cipher text; not owned.</param>
/// <param name="cipher">What decrypts it.</param>
/// <param name="length">Length of what it holds.</param>
internal sealed class CipherInput(IArchiveInput text, StreamCipher cipher, long length) : IArchiveInput
{
    private const int Block = StreamCipher.BlockLength;

    public long Length => length;

    public async ValueTask ReadAsync(long offset, Memory<byte> buffer, CancellationToken cancellationToken)
    {
        // The block before is the initial vector of the block that is wanted.
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

/// <summary>The candidates of a source as inputs, opened when they are needed.</summary>
internal sealed class SourceInputs(IVolumeSource source) : IReadOnlyList<IArchiveInput>
{
    public int Count => source.Candidates.Count;

    public IArchiveInput this[int index] => source.Open(index);

    public IEnumerator<IArchiveInput> GetEnumerator() => Enumerable.Range(0, Count).Select(source.Open).GetEnumerator();

    System.Collections.IEnumerator System.Collections.IEnumerable.GetEnumerator() => GetEnumerator();
}
