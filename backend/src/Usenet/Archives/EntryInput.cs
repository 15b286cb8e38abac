using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Archives;

/// <summary>Reads an encrypted text as the bytes that it holds.</summary>
/// <param name="text">The encrypted text: all extents of the entry, joined.</param>
/// <param name="cipher">What decrypts it; its <see cref="StreamCipher.Skip"/> is to be left out.</param>
/// <param name="length">Length of the entry in bytes.</param>
/// <returns>The entry's bytes.</returns>
public delegate IArchiveInput EntryDecryptor(IArchiveInput text, StreamCipher cipher, long length);

/// <summary>A file inside an archive as an input of its own, so that an archive in an archive is read like any other (IMP-55).</summary>
/// <remarks>Thread-safe, as its inputs are. It owns nothing.</remarks>
public sealed class EntryInput : IArchiveInput
{
    private readonly IArchiveInput _bytes;

    /// <summary>Opens an entry.</summary>
    /// <param name="entry">It; stored, and encrypted only where its cipher is decided.</param>
    /// <param name="volumes">The volumes that its extents count.</param>
    /// <param name="decryptor">Called once, where the entry is encrypted.</param>
    /// <exception cref="ArchiveException">The entry is compressed, its password is not decided, or its extents lie outside of the volumes.</exception>
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

    /// <inheritdoc/>
    public long Length => _bytes.Length;

    /// <inheritdoc/>
    public ValueTask ReadAsync(long offset, Memory<byte> buffer, CancellationToken cancellationToken) =>
        _bytes.ReadAsync(offset, buffer, cancellationToken);

    private static bool IsInside(ArchiveExtent extent, IReadOnlyList<IArchiveInput> volumes) =>
        (uint)extent.Volume < (uint)volumes.Count && extent.Offset >= 0 && extent.Length >= 0
        && extent.Offset <= volumes[extent.Volume].Length - extent.Length;
}
