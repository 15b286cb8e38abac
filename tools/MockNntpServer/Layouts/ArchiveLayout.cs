using System.Text;

namespace Sluice.Tools.MockNntpServer.Layouts;

/// <summary>What an archive is made as.</summary>
public enum LayoutFormat
{
    /// <summary>RAR 2.9 to 4.</summary>
    Rar4,

    /// <summary>RAR 5.</summary>
    Rar5,

    /// <summary>7z.</summary>
    SevenZip,

    /// <summary>zip, zip64 where a number needs it.</summary>
    Zip,

    /// <summary>tar: ustar.</summary>
    Tar,

    /// <summary>One file cut into pieces; it has exactly one entry, whose path is the name without number.</summary>
    Split,
}

/// <summary>How the volumes of a set are called.</summary>
public enum VolumeNaming
{
    /// <summary>As the format's own programs do now: <c>.part01.rar</c>, <c>.7z.001</c>, <c>.001</c>, <c>.z01</c> up to <c>.zip</c>.</summary>
    Usual,

    /// <summary>RAR of old: <c>.rar</c>, <c>.r00</c> to <c>.r99</c>, <c>.s00</c> and on.</summary>
    Old,

    /// <summary>One hexadecimal stem for all, the number as extension: <c>6f3a….1</c>, <c>.2</c> up to the count, not padded.</summary>
    Numbers,

    /// <summary>A hexadecimal stem for each, without extension.</summary>
    Random,
}

/// <summary>What the check value of a password is (RAR 5).</summary>
public enum PasswordCheck
{
    /// <summary>As it has to be.</summary>
    Right,

    /// <summary>There is none.</summary>
    None,

    /// <summary>It contradicts its own checksum, so that it says nothing.</summary>
    Damaged,
}

/// <summary>What an archive says about the CRC-32 of an entry.</summary>
public enum EntryCrc
{
    /// <summary>The truth; of encrypted entries nothing, where the format allows that.</summary>
    Usual,

    /// <summary>The truth, of encrypted entries too.</summary>
    Right,

    /// <summary>Nothing, where the format allows that.</summary>
    None,

    /// <summary>Something else than the truth.</summary>
    Wrong,
}

/// <summary>What an entry is.</summary>
public enum EntryKind
{
    /// <summary>A file.</summary>
    File,

    /// <summary>A folder, without content.</summary>
    Folder,

    /// <summary>A symbolic link (RAR 5, tar).</summary>
    Link,
}

/// <summary>An entry of an archive that is laid out.</summary>
/// <param name="Path">Its path inside, separated by <c>/</c>.</param>
/// <param name="Length">Its length in bytes.</param>
public sealed record LayoutEntry(string Path, long Length)
{
    /// <summary>
    /// Its bytes; null for synthetic ones that begin with what files of its extension begin with. Where the archive is encrypted, given
    /// bytes are encrypted in memory and are at most 64 MiB.
    /// </summary>
    public MockBytes? Bytes { get; init; }

    /// <summary>What it is.</summary>
    public EntryKind Kind { get; init; }

    /// <summary>Whether it says that it is compressed (RAR m3, Deflate, LZMA); what stands for its packed bytes is synthetic, and it has no truth.</summary>
    public bool IsCompressed { get; init; }

    /// <summary>What the archive says about its CRC-32.</summary>
    public EntryCrc Crc { get; init; }

    /// <summary>An entry with given bytes, such as a volume of an archive inside.</summary>
    public static LayoutEntry Of(string path, MockBytes bytes) => new(path, bytes.Length) { Bytes = bytes };
}

/// <summary>
/// An archive as it is to be laid out, sound or damaged. Immutable. <see cref="Make"/> gives its volumes, whose bytes are computed where
/// they are asked for: a set of 100 GiB is some kilobytes of headers.
/// </summary>
public sealed record ArchiveLayout
{
    /// <summary>The format.</summary>
    public required LayoutFormat Format { get; init; }

    /// <summary>What is inside, in order.</summary>
    public required IReadOnlyList<LayoutEntry> Entries { get; init; }

    /// <summary>Number of volumes; ignored where <see cref="VolumeSize"/> is set. A tar has one.</summary>
    public int Volumes { get; init; } = 1;

    /// <summary>Bytes of each volume but the last; null: as few as <see cref="Volumes"/> volumes need.</summary>
    public long? VolumeSize { get; init; }

    /// <summary>Beginning of the names of volumes; null: the first entry's name without extension.</summary>
    public string? Stem { get; init; }

    /// <summary>How the volumes are called.</summary>
    public VolumeNaming Naming { get; init; }

    /// <summary>Volumes, from 0, that are not posted: the first, one in the middle, or the last ones of a set that goes on.</summary>
    public IReadOnlyList<int> Unposted { get; init; } = [];

    /// <summary>
    /// A volume, from 0, that holds fewer bytes than its neighbours before it, while the next one holds as many more: what is predicted
    /// from first, second and last volume is wrong there, although the sums are right. Null for none.
    /// </summary>
    public (int Volume, int Bytes)? Shifted { get; init; }

    /// <summary>The password; null: nothing is encrypted. Not for zip, tar and split files.</summary>
    public string? Password { get; init; }

    /// <summary>Whether headers are encrypted too (RAR 4, RAR 5, 7z).</summary>
    public bool EncryptsHeaders { get; init; }

    /// <summary>What the check value is (RAR 5).</summary>
    public PasswordCheck PasswordCheck { get; init; }

    /// <summary>Rounds of the derivation of keys as a power of two (RAR 5: 15 is usual, 7z: 19); null: 4, so that tests take no time.</summary>
    public int? KeyRoundsLog2 { get; init; }

    /// <summary>Whether volumes of RAR 4 say their number in their end block. Those of RAR 5 always do.</summary>
    public bool HasVolumeNumbers { get; init; } = true;

    /// <summary>Whether entries are flagged as solid (RAR).</summary>
    public bool IsSolid { get; init; }

    /// <summary>A comment (RAR), or null.</summary>
    public string? Comment { get; init; }

    /// <summary>Whether each volume ends with a block for quick opening (RAR 5).</summary>
    public bool HasQuickOpen { get; init; }

    /// <summary>Bytes of a recovery record at the end of each volume (RAR); 0 for none.</summary>
    public int RecoveryBytes { get; init; }

    /// <summary>Whether the header is packed (7z, by LZMA2).</summary>
    public bool PacksHeader { get; init; }

    /// <summary>Whether all entries share one folder (7z), so that encrypted ones begin in the midst of a block.</summary>
    public bool SharesFolder { get; init; }

    /// <summary>Whether zip64 fields are written although no number needs them.</summary>
    public bool ForcesZip64 { get; init; }

    /// <summary>Lays it out.</summary>
    /// <param name="seed">Seed of synthetic content, salts and random names.</param>
    /// <param name="firstStream">Number of the first synthetic stream that it may use; it uses at most two for each entry.</param>
    /// <exception cref="ArgumentException">It cannot be made like that.</exception>
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

    /// <summary>Cuts a whole archive into volumes.</summary>
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

    /// <summary>How many bytes more than usual a volume holds.</summary>
    internal int ShiftOf(int volume) => Shifted is not { } shifted
        ? 0
        : volume == shifted.Volume ? -shifted.Bytes : volume == shifted.Volume + 1 ? shifted.Bytes : 0;
}

/// <summary>An archive that was laid out.</summary>
/// <param name="Volumes">Its posted volumes, in order.</param>
/// <param name="Entries">The truth: its stored files in the order of the archive.</param>
public sealed record MockArchive(IReadOnlyList<MockVolume> Volumes, IReadOnlyList<MockEntry> Entries)
{
    /// <summary>Numbers of synthetic streams below it belong to plain files of a release.</summary>
    public const int FirstStream = 1_000_000;

    /// <summary>Its volumes as entries of another archive.</summary>
    public IReadOnlyList<LayoutEntry> AsEntries() => [.. Volumes.Select(volume => LayoutEntry.Of(volume.Name, volume.Bytes))];
}

/// <summary>A volume.</summary>
/// <param name="Index">Its place in the set, from 0.</param>
/// <param name="Name">The name that it is posted by.</param>
/// <param name="UsualName">The name that it had before it was posted, which a PAR2 index tells.</param>
/// <param name="Bytes">Its bytes.</param>
public sealed record MockVolume(int Index, string Name, string UsualName, MockBytes Bytes);

/// <summary>The truth of one file of a release, whatever lies around it.</summary>
/// <param name="Path">Its path in the innermost archive, or its name.</param>
/// <param name="Bytes">Its bytes.</param>
public sealed record MockEntry(string Path, MockBytes Bytes)
{
    /// <summary>The posted files that it lies in, as indexes of <see cref="Articles.MockRelease.Files"/> in the order of the set; empty before it is posted.</summary>
    public IReadOnlyList<int> Posted { get; init; } = [];
}

/// <summary>First bytes by which a file of an extension is known.</summary>
internal static class MagicBytes
{
    private static readonly byte[] Matroska =
    [
        0x1A, 0x45, 0xDF, 0xA3, 0xA3, 0x42, 0x86, 0x81, 0x01, 0x42, 0xF7, 0x81, 0x01, 0x42, 0xF2, 0x81, 0x04, 0x42, 0xF3, 0x81, 0x08,
        0x42, 0x82, 0x88, .. "matroska"u8, 0x42, 0x87, 0x81, 0x04, 0x42, 0x85, 0x81, 0x02,
    ];

    private static readonly byte[] Mp4 = [0, 0, 0, 0x18, .. "ftypisom"u8, 0, 0, 2, 0, .. "isomiso2"u8];

    private static readonly byte[] Disc = [.. new byte[0x8000], 1, .. "CD001"u8, 1];

    /// <summary>The bytes; none for an extension that it does not know.</summary>
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
