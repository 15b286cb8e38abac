using Sluice.Tools.MockNntpServer.Articles;

namespace Sluice.Tools.MockNntpServer.Layouts;

/// <summary>Input of the writers of all formats: stored and expected bytes of each entry, keys, salts and other pseudorandom bytes.</summary>
internal sealed class LayoutSource
{
    private const int DefaultRoundsLog2 = 4;

    private readonly ulong _seed;
    private readonly int _firstStream;

    public LayoutSource(ArchiveLayout layout, ulong seed, int firstStream)
    {
        if (layout.Password is not null && layout.Format is LayoutFormat.Zip or LayoutFormat.Tar or LayoutFormat.Split)
            throw new ArgumentException($"{layout.Format} is not encrypted.");
        if (layout.EncryptsHeaders && layout.Password is null)
            throw new ArgumentException("Headers are encrypted with a password.");
        ArgumentOutOfRangeException.ThrowIfLessThan(layout.Volumes, 1);
        (Layout, _seed, _firstStream) = (layout, seed, firstStream);
        Salt = Lot(-1, 16);
        (Key, Rar4Iv) = layout.Password is not { } password ? ([], []) : layout.Format switch
        {
            LayoutFormat.Rar5 => (PasswordKeys.Rar5(password, Salt, RoundsLog2).Key, []),
            LayoutFormat.SevenZip => (PasswordKeys.SevenZip(password, [], RoundsLog2), []),
            _ => PasswordKeys.Rar4(password, Salt[..8]),
        };
        Files = layout is { SharesFolder: true, Password: not null } ? MakeShared() : [.. layout.Entries.Select(MakeFile)];
    }

    public ArchiveLayout Layout { get; }

    public IReadOnlyList<LayoutFile> Files { get; }

    /// <summary>The key of all entries; empty if nothing is encrypted.</summary>
    public byte[] Key { get; }

    /// <summary>The initialization vector that RAR 4 derives with the key; empty for other formats.</summary>
    public byte[] Rar4Iv { get; }

    /// <summary>16 pseudorandom bytes, the same for all entries.</summary>
    public byte[] Salt { get; }

    public int RoundsLog2 => Layout.KeyRoundsLog2 ?? DefaultRoundsLog2;

    /// <summary>Returns pseudorandom bytes. Equal numbers give equal bytes, so that archives are reproducible.</summary>
    public byte[] Lot(int number, int count)
    {
        var bytes = new byte[count];
        SyntheticContent.Fill(SyntheticContent.Mix(_seed + (ulong)_firstStream), number + 2, 0, bytes);
        return bytes;
    }

    public LayoutFile Single() => Files.Count == 1 ? Files[0] : throw new ArgumentException("A file that is split is one entry.");

    /// <summary>Returns synthetic bytes outside all entries, such as recovery records.</summary>
    public MockBytes Filler(int number, long length) => MockBytes.Synthetic(SyntheticContent.Mix(_seed + (ulong)_firstStream), 1000 + number, length);

    /// <summary>Returns synthetic content of an entry, with the magic bytes of its extension.</summary>
    public static MockBytes ContentOf(string path, ulong seed, int stream, long length)
    {
        var magic = MagicBytes.Of(path);
        var start = (int)Math.Min(magic.Length, length);
        return MockBytes.Join([MockBytes.Of(magic.AsMemory(0, start)), MockBytes.Synthetic(seed, stream, length).Slice(start, length - start)]);
    }

    /// <summary>Encrypts all entries as one text, because they share a 7z folder. The first entry holds the ciphertext.</summary>
    private List<LayoutFile> MakeShared()
    {
        var total = Layout.Entries.Sum(entry => entry.Length);
        var given = MockBytes.Join(Layout.Entries.Select((entry, index) => entry.Bytes ?? ContentOf(entry.Path, _seed, _firstStream + (2 * index), entry.Length)));
        var iv = Lot(0, 16);
        var text = EncryptedBytes.Make(
            given.Slice(0, Math.Min(given.Length, EncryptedBytes.GivenLength)), total, MockBytes.Synthetic(_seed, _firstStream + 1, EncryptedBytes.Padded(total)), Key, iv);
        var files = new List<LayoutFile>();
        long offset = 0;
        foreach (var entry in Layout.Entries)
        {
            files.Add(new LayoutFile(entry, files.Count, text.Plain.Slice(offset, entry.Length), files.Count == 0 ? text.Cipher : MockBytes.Empty, iv));
            offset += entry.Length;
        }

        return files;
    }

    private LayoutFile MakeFile(LayoutEntry entry, int index)
    {
        var stream = _firstStream + (2 * index);
        if (entry.Kind != EntryKind.File)
            return new LayoutFile(entry, index, MockBytes.Empty, MockBytes.Empty, []);
        if (entry.IsCompressed)
        {
            var packed = MockBytes.Synthetic(_seed, stream, Math.Max(1, entry.Length * 3 / 5));
            return new LayoutFile(entry, index, packed, packed, []);
        }

        if (Layout.Password is null)
        {
            var plain = entry.Bytes ?? ContentOf(entry.Path, _seed, stream, entry.Length);
            return new LayoutFile(entry, index, plain, plain, []);
        }

        var iv = Rar4Iv.Length > 0 ? Rar4Iv : Lot(index, 16);
        var text = entry.Bytes is { } given
            ? EncryptedBytes.Of(given, Key, iv)
            : EncryptedBytes.Make(
                ContentOf(entry.Path, _seed, stream, Math.Min(entry.Length, EncryptedBytes.GivenLength)), entry.Length,
                MockBytes.Synthetic(_seed, stream + 1, EncryptedBytes.Padded(entry.Length)), Key, iv);
        return new LayoutFile(entry, index, text.Plain, text.Cipher, iv);
    }
}

/// <param name="Plain">Expected content.</param>
/// <param name="Iv">Initialization vector; empty if not encrypted.</param>
internal sealed record LayoutFile(LayoutEntry Entry, int Index, MockBytes Plain, MockBytes Stored, byte[] Iv)
{
    public bool IsEncrypted => Iv.Length > 0;

    public bool HasCrc => Entry.Kind == EntryKind.File && Entry.Crc != EntryCrc.None && (Entry.Crc != EntryCrc.Usual || !IsEncrypted);

    /// <summary>The CRC of the whole entry in the archive.</summary>
    public uint Crc => Entry.Crc == EntryCrc.Wrong ? ~Plain.Crc32 : Plain.Crc32;
}
