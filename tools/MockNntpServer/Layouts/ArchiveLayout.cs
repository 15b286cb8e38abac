using System.Text;

namespace Sluice.Tools.MockNntpServer.Layouts;

public enum LayoutFormat
{
    Rar4,

    Rar5,

    SevenZip,

    /// <summary>zip, with zip64 if a number needs it.</summary>
    Zip,

    Tar,

    /// <summary>One file cut into pieces. It has exactly one entry, whose path is the name without number.</summary>
    Split,
}

public enum VolumeNaming
{
    /// <summary>Current names of the format's own programs: <c>.part01.rar</c>, <c>.7z.001</c>, <c>.001</c>, <c>.z01</c> up to <c>.zip</c>.</summary>
    Usual,

    /// <summary>Old RAR names: <c>.rar</c>, <c>.r00</c> to <c>.r99</c>, <c>.s00</c> and so on.</summary>
    Old,

    /// <summary>One hexadecimal stem for all, with an unpadded number as extension: <c>6f3a….1</c>, <c>.2</c> up to the count.</summary>
    Numbers,

    /// <summary>A different hexadecimal stem for each volume, without extension.</summary>
    Random,
}

/// <summary>Password check value in the archive (RAR 5).</summary>
public enum PasswordCheck
{
    Right,

    None,

    /// <summary>Contradicts its own checksum, so that it must be ignored.</summary>
    Damaged,
}

public enum EntryCrc
{
    /// <summary>Correct, but absent for encrypted entries if the format allows that.</summary>
    Usual,

    /// <summary>Correct, also for encrypted entries.</summary>
    Right,

    /// <summary>Absent, if the format allows that.</summary>
    None,

    Wrong,
}

public enum EntryKind
{
    File,

    Folder,

    /// <summary>A symbolic link (RAR 5, tar).</summary>
    Link,
}

/// <summary>An entry of a generated archive.</summary>
/// <param name="Path">Its path in the archive, separated by <c>/</c>.</param>
public sealed record LayoutEntry(string Path, long Length)
{
    /// <summary>
    /// Content of the entry; null for synthetic content with the magic bytes of its extension. In encrypted archives, given content is
    /// encrypted in memory, so it is limited to 64 MiB.
    /// </summary>
    public MockBytes? Bytes { get; init; }

    public EntryKind Kind { get; init; }

    /// <summary>Whether the entry is marked as compressed. It has no expected content, because its packed bytes are synthetic.</summary>
    public bool IsCompressed { get; init; }

    public EntryCrc Crc { get; init; }

    /// <summary>Creates an entry with given content, such as a volume of a nested archive.</summary>
    public static LayoutEntry Of(string path, MockBytes bytes) => new(path, bytes.Length) { Bytes = bytes };
}

/// <summary>
/// Describes an archive to generate, intact or damaged. Immutable. <see cref="Make"/> returns its volumes, whose bytes are computed on demand. So a set of 100
/// GiB needs only a few kilobytes of headers.
/// </summary>
public sealed record ArchiveLayout
{
    public required LayoutFormat Format { get; init; }

    public required IReadOnlyList<LayoutEntry> Entries { get; init; }

    /// <summary>Number of volumes; ignored if <see cref="VolumeSize"/> is set. A tar has one.</summary>
    public int Volumes { get; init; } = 1;

    /// <summary>Bytes of each volume except the last; null for the least that <see cref="Volumes"/> volumes need.</summary>
    public long? VolumeSize { get; init; }

    /// <summary>Start of the volume names; null for the first entry's name without extension.</summary>
    public string? Stem { get; init; }

    public VolumeNaming Naming { get; init; }

    /// <summary>Unposted volumes (0-based): the first, a middle one, or the last ones of an incomplete set.</summary>
    public IReadOnlyList<int> Unposted { get; init; } = [];

    /// <summary>
    /// A 0-based volume smaller than the previous ones, followed by a volume larger by the same amount. A prediction from first,
    /// second and last volume is wrong there, although the sums match. Null for none.
    /// </summary>
    public (int Volume, int Bytes)? Shifted { get; init; }

    /// <summary>The password; null for no encryption. Not supported for zip, tar and split files.</summary>
    public string? Password { get; init; }

    /// <summary>Whether headers are encrypted too (RAR 4, RAR 5, 7z).</summary>
    public bool EncryptsHeaders { get; init; }

    public PasswordCheck PasswordCheck { get; init; }

    /// <summary>Key derivation rounds as a power of two (usually 15 for RAR 5, 19 for 7z). Null for 4, so that tests are fast.</summary>
    public int? KeyRoundsLog2 { get; init; }

    /// <summary>Whether RAR 4 volumes have their number in the end block. RAR 5 volumes always have it.</summary>
    public bool HasVolumeNumbers { get; init; } = true;

    /// <summary>Whether entries are flagged as solid (RAR).</summary>
    public bool IsSolid { get; init; }

    public string? Comment { get; init; }

    /// <summary>Whether each volume ends with a quick open block (RAR 5).</summary>
    public bool HasQuickOpen { get; init; }

    /// <summary>Bytes of a recovery record at the end of each volume (RAR); 0 for none.</summary>
    public int RecoveryBytes { get; init; }

    /// <summary>Whether the header is packed (7z, by LZMA2).</summary>
    public bool PacksHeader { get; init; }

    /// <summary>Whether all entries share one folder (7z), so that encrypted entries can begin within a block.</summary>
    public bool SharesFolder { get; init; }

    /// <summary>Whether zip64 fields are written even if no number needs them.</summary>
    public bool ForcesZip64 { get; init; }

    /// <param name="seed">Seed of synthetic content, salts and random names.</param>
    /// <param name="firstStream">First synthetic stream number to use. Each entry uses at most two.</param>
    public MockArchive Make(ulong seed, int firstStream = MockArchive.FirstStream)
    {
        var source = new LayoutSource(this, seed, firstStream);
        var volumes = Format switch
        {
            LayoutFormat.Rar4 => new Rar4Writer(source).Write(),
            LayoutFormat.Rar5 => new Rar5Writer(source).Write(),
            LayoutFormat.SevenZip => Cut(new SevenZipWriter(source).Write()),
            LayoutFormat.Zip => ZipWriter.Write(source),
            LayoutFormat.Tar => [TarWriter.Write(source)],
            _ => Cut(source.Single().Stored),
        };
        var names = VolumeNames.Of(this, volumes.Count, seed + (ulong)firstStream);
        return new MockArchive(
            [.. volumes.Select((bytes, index) => new MockVolume(index, names.Posted[index], names.Usual[index], bytes)).Where(volume => !Unposted.Contains(volume.Index))],
            [.. source.Files.Where(file => file.Entry is { Kind: EntryKind.File, IsCompressed: false }).Select(file => new MockEntry(file.Entry.Path, file.Plain))]);
    }

    private List<MockBytes> Cut(MockBytes whole)
    {
        var size = VolumeSize ?? ((whole.Length + Volumes - 1) / Volumes);
        var volumes = new List<MockBytes>();
        for (long offset = 0; offset < whole.Length;)
        {
            var length = Math.Min(whole.Length - offset, size + ShiftOf(volumes.Count));
            volumes.Add(whole.Slice(offset, length));
            offset += length;
        }

        return volumes;
    }

    /// <summary>Returns how many bytes a volume holds beyond the usual size; negative for less.</summary>
    internal int ShiftOf(int volume) => Shifted is not { } shifted
        ? 0
        : volume == shifted.Volume ? -shifted.Bytes : volume == shifted.Volume + 1 ? shifted.Bytes : 0;
}

/// <param name="Entries">Expected content: its stored files in archive order.</param>
public sealed record MockArchive(IReadOnlyList<MockVolume> Volumes, IReadOnlyList<MockEntry> Entries)
{
    /// <summary>Lower stream numbers belong to plain files of a release.</summary>
    public const int FirstStream = 1_000_000;

    public IReadOnlyList<LayoutEntry> AsEntries() => [.. Volumes.Select(volume => LayoutEntry.Of(volume.Name, volume.Bytes))];
}

/// <param name="Index">0-based position in the set.</param>
/// <param name="UsualName">Original name before obfuscation, as listed in a PAR2 index.</param>
public sealed record MockVolume(int Index, string Name, string UsualName, MockBytes Bytes);

/// <summary>Expected content of one file of a release, without its archives.</summary>
/// <param name="Path">Its path in the innermost archive, or its name.</param>
public sealed record MockEntry(string Path, MockBytes Bytes)
{
    /// <summary>
    /// Posted files that contain it, as indexes of <see cref="Articles.MockRelease.Files"/> in set order; empty before the release is
    /// built.
    /// </summary>
    public IReadOnlyList<int> Posted { get; init; } = [];
}

internal static class MagicBytes
{
    private static readonly byte[] Matroska =
    [
        0x1A, 0x45, 0xDF, 0xA3, 0xA3, 0x42, 0x86, 0x81, 0x01, 0x42, 0xF7, 0x81, 0x01, 0x42, 0xF2, 0x81, 0x04, 0x42, 0xF3, 0x81, 0x08,
        0x42, 0x82, 0x88, .. "matroska"u8, 0x42, 0x87, 0x81, 0x04, 0x42, 0x85, 0x81, 0x02,
    ];

    private static readonly byte[] Mp4 = [0, 0, 0, 0x18, .. "ftypisom"u8, 0, 0, 2, 0, .. "isomiso2"u8];

    private static readonly byte[] Disc = [.. new byte[0x8000], 1, .. "CD001"u8, 1];

    /// <summary>Returns the magic bytes; empty for an unknown extension.</summary>
    public static byte[] Of(string path) => System.IO.Path.GetExtension(path).ToLowerInvariant() switch
    {
        ".mkv" or ".mka" => Matroska,
        ".mp4" or ".m4v" or ".m4a" => Mp4,
        ".avi" => [.. "RIFF"u8, 0, 0, 0x10, 0, .. "AVI LIST"u8],
        ".iso" or ".img" => Disc,
        ".mp3" => [.. "ID3"u8, 3, 0, 0, 0, 0, 0, 0],
        ".flac" => [.. "fLaC"u8],
        ".jpg" => [0xFF, 0xD8, 0xFF, 0xE0],
        ".srt" => Encoding.ASCII.GetBytes("1\r\n00:00:01,000 --> 00:00:02,000\r\n"),
        _ => [],
    };
}
