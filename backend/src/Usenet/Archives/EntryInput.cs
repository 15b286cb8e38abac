using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Archives;

/// <summary>Decrypts the data of an entry while reading.</summary>
/// <param name="text">The ciphertext: all extents of the entry, joined.</param>
/// <param name="cipher">Decrypts the ciphertext; the first <see cref="StreamCipher.Skip"/> bytes are omitted.</param>
/// <param name="length">Length of the entry in bytes.</param>
public delegate IArchiveInput EntryDecryptor(IArchiveInput text, StreamCipher cipher, long length);

/// <summary>Reads an archive entry as an input, so that a nested archive is read like any other (IMP-55).</summary>
/// <remarks>Thread-safe if its inputs are. Owns nothing.</remarks>
public sealed class EntryInput : IArchiveInput
{
    private readonly IArchiveInput _bytes;

    /// <summary>Opens an entry.</summary>
    /// <param name="entry">A stored entry; if encrypted, its cipher must be set.</param>
    /// <param name="volumes">The volumes to which the extents refer.</param>
    /// <param name="decryptor">Called once if the entry is encrypted.</param>
    /// <exception cref="ArchiveException">The entry is compressed, its password is undecided, or an extent exceeds its volume.</exception>
    public EntryInput(ArchiveEntry entry, IReadOnlyList<IArchiveInput> volumes, EntryDecryptor decryptor)
    {
        ArgumentNullException.ThrowIfNull(entry);
        ArgumentNullException.ThrowIfNull(decryptor);
        if (entry.Method is not null || entry.Candidates.Count > 0)
            throw new ArchiveException(ArchiveFault.Unsupported, "an archive inside of it is compressed or encrypted");
        if (entry.Extents.Any(extent => !IsInside(extent, volumes)))
            throw new ArchiveException(ArchiveFault.Broken, "an entry reaches past its volumes");

        var pieces = new SplitSet(entry.Extents);
        var text = new JoinedInput(volumes, pieces);
        _bytes = entry.Cipher is { } cipher ? decryptor(text, cipher, entry.Length) : text;
        if (_bytes.Length != entry.Length)
            throw new ArchiveException(ArchiveFault.Broken, "the data of an entry is not as long as the entry");
    }

    public long Length => _bytes.Length;

    public ValueTask ReadAsync(long offset, Memory<byte> buffer, CancellationToken cancellationToken) =>
        _bytes.ReadAsync(offset, buffer, cancellationToken);

    private static bool IsInside(ArchiveExtent extent, IReadOnlyList<IArchiveInput> volumes) =>
        (uint)extent.Volume < (uint)volumes.Count && extent.Offset >= 0 && extent.Length >= 0
        && extent.Offset <= volumes[extent.Volume].Length - extent.Length;
}
