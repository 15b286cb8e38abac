using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Archives;

/// <summary>The format of an archive.</summary>
public enum ArchiveFormat
{
    /// <summary>RAR 2.9 to 4.</summary>
    Rar4,

    /// <summary>RAR 5 to 7.</summary>
    Rar5,

    /// <summary>7z.</summary>
    SevenZip,

    /// <summary>zip and zip64.</summary>
    Zip,

    /// <summary>tar: ustar, pax, GNU.</summary>
    Tar,

    /// <summary>A file that was cut into pieces.</summary>
    Split,
}

/// <summary>A stretch of one volume.</summary>
/// <param name="Volume">Index of the volume in the order of the set, 0-based.</param>
/// <param name="Offset">Its first byte in the volume, 0-based.</param>
/// <param name="Length">Its bytes.</param>
public readonly record struct ArchiveExtent(int Volume, long Offset, long Length);

/// <summary>A file inside an archive.</summary>
/// <remarks>Immutable. Folders, links and empty streams are no entries.</remarks>
public sealed record ArchiveEntry
{
    /// <summary>Its path as the archive has it, separated by <c>/</c>; not cleaned, and it may try to lead out of its folder.</summary>
    public required string Path { get; init; }

    /// <summary>Its length in bytes, unpacked.</summary>
    public required long Length { get; init; }

    /// <summary>
    /// Where its data lies, in order. Of a stored entry the lengths sum up to <see cref="Length"/>; of an encrypted one to the next multiple of
    /// 16 at or above <see cref="StreamCipher.Skip"/> and <see cref="Length"/> together; of a compressed one they may be empty.
    /// </summary>
    public required IReadOnlyList<ArchiveExtent> Extents { get; init; }

    /// <summary>How it is compressed, in the words of its format (<c>m3</c>, <c>LZMA2</c>, <c>Deflate</c>); null where it is stored.</summary>
    public string? Method { get; init; }

    /// <summary>What decrypts it, by a password that was proved; null where it is not encrypted, or <see cref="Candidates"/> has to be chosen from.</summary>
    public StreamCipher? Cipher { get; init; }

    /// <summary>
    /// One cipher for each password in their order, where the archive has nothing that says which one fits: the caller decides by the bytes
    /// that come out, or refuses the entry. Empty where <see cref="Cipher"/> is decided, and where the entry is not encrypted.
    /// </summary>
    public CipherCandidates Candidates { get; init; } = CipherCandidates.None;

    /// <summary>CRC-32 of the unpacked bytes; null where the archive has none that can be used.</summary>
    public uint? Crc32 { get; init; }
}

/// <summary>Ciphers to choose from, one for each password. A key is derived when its cipher is asked for.</summary>
/// <remarks>Holds passwords, and is never written to a log.</remarks>
/// <param name="passwords">The passwords in the order in which they are tried.</param>
/// <param name="derive">Gives the cipher of a password; asked again for each look.</param>
public sealed class CipherCandidates(IReadOnlyList<string> passwords, Func<string, StreamCipher> derive) : IReadOnlyList<StreamCipher>
{
    /// <summary>None.</summary>
    public static CipherCandidates None { get; } = new([], _ => throw new InvalidOperationException("There is no password."));

    /// <summary>The passwords in the order in which they are tried.</summary>
    public IReadOnlyList<string> Passwords => passwords;

    /// <inheritdoc/>
    public int Count => passwords.Count;

    /// <inheritdoc/>
    public StreamCipher this[int index] => derive(passwords[index]);

    /// <summary>The cipher of a password.</summary>
    public StreamCipher Of(string password) => derive(password);

    /// <inheritdoc/>
    public IEnumerator<StreamCipher> GetEnumerator() => passwords.Select(derive).GetEnumerator();

    System.Collections.IEnumerator System.Collections.IEnumerable.GetEnumerator() => GetEnumerator();
}

/// <summary>What is in an archive, and where.</summary>
/// <param name="Format">Its format.</param>
/// <param name="Entries">Its files in the order of the archive.</param>
/// <param name="Notes">What was skipped and why, one short text each.</param>
public sealed record ArchiveMap(ArchiveFormat Format, IReadOnlyList<ArchiveEntry> Entries, IReadOnlyList<string> Notes);
