using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Archives;

/// <summary>Locates the data of each file in a 7z header. The password that opened the header, if encrypted, opens the data too.</summary>
/// <remarks>For one header; not thread-safe.</remarks>
internal sealed class SevenZipEntries(SevenZipHeader header, ArchiveKeys keys, string? password)
{
    private readonly SevenZipCipher?[] _ciphers = new SevenZipCipher?[header.Streams.Folders.Count];

    // A snapshot, so that the candidates of all files have the same order.
    private readonly IReadOnlyList<string> _passwords = keys.Passwords;

    /// <exception cref="ArchiveException">The header contradicts itself, or a required password is missing.</exception>
    public ArchiveMap Map()
    {
        var entries = new List<ArchiveEntry>();
        var notes = new List<string>();
        var items = header.Items.Where(item => item.HasStream).ToList();
        if (items.Count != header.Streams.Streams.Count)
            throw new ArchiveException(ArchiveFault.Broken, "it has not as many streams as files");
        foreach (var (item, stream) in items.Zip(header.Streams.Streams))
        {
            if (item.IsSpecial)
                notes.Add($"skipped a link: {item.Path}");
            else if (!item.IsFolder && stream.Length > 0)
                entries.Add(Find(item, stream));
        }

        return new ArchiveMap(ArchiveFormat.SevenZip, entries, notes);
    }

    private ArchiveEntry Find(SevenZipItem item, SevenZipStream stream)
    {
        var folder = header.Streams.Folders[stream.Folder];
        var entry = new ArchiveEntry { Path = item.Path, Length = stream.Length, Crc32 = stream.Crc, Method = folder.Method, Extents = [] };
        if (folder.Method is not null)
            return entry;

        var packed = header.Streams.Packed[folder.FirstPacked];
        if (folder.Cipher is { } coder)
            return Unlock(entry, stream, packed, folder, _ciphers[stream.Folder] ??= SevenZipCipher.Read(coder));
        return HasLengths(folder) && packed.Length == folder.Length
            ? entry with { Extents = [packed with { Offset = packed.Offset + stream.Offset, Length = stream.Length }] }
            : throw Contradiction();
    }

    private ArchiveEntry Unlock(ArchiveEntry entry, SevenZipStream stream, ArchiveExtent packed, SevenZipFolder folder, SevenZipCipher cipher)
    {
        if (!HasLengths(folder) || packed.Length < SevenZipCipher.RoundUp(folder.Length))
            throw Contradiction();
        if (_passwords.Count == 0)
            throw new ArchiveException(ArchiveFault.NoPassword, "its files are encrypted");

        var first = SevenZipCipher.FirstByte(stream.Offset);
        var end = SevenZipCipher.RoundUp(stream.Offset + stream.Length);
        entry = entry with { Extents = [packed with { Offset = packed.Offset + first, Length = end - first }] };
        return password is not null
            ? entry with { Cipher = Cipher(password) }
            : entry with { Candidates = new CipherCandidates(_passwords, Cipher) };

        StreamCipher Cipher(string tried) => cipher.ForStretch(stream.Offset, keys.Get(cipher.KeyRequestOf(tried)).Key);
    }

    // Coders of stored data pass their input through unchanged, so all lengths must be equal.
    private static bool HasLengths(SevenZipFolder folder) => folder.OutputLengths.All(length => length == folder.Length);

    private static ArchiveException Contradiction() => new(ArchiveFault.Broken, "stored data is not as long as its files");
}
