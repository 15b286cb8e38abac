using Sluice.Usenet.Archives;

namespace Sluice.Usenet.Tests.Archives;

/// <summary>Parsed volumes without their bytes.</summary>
internal static class RarSets
{
    private const int Header = 100;
    private const int End = 20;

    /// <summary>Returns a set of files of given lengths, in volumes of one length, as rar would split it.</summary>
    /// <param name="format">RAR 4 or RAR 5.</param>
    /// <param name="perVolume">Bytes of data in each volume except the last.</param>
    /// <param name="hasNumbers">Whether volumes contain their numbers.</param>
    /// <param name="files">Names and lengths of the files.</param>
    public static List<RarVolume> Of(ArchiveFormat format, int perVolume, bool hasNumbers, params (string Name, int Length)[] files)
    {
        var volumes = new List<List<RarPart>> { new() };
        var room = perVolume;
        var offset = Header;
        foreach (var (name, length) in files)
        {
            for (var done = 0; done < length;)
            {
                if (room == 0)
                {
                    volumes.Add([]);
                    (room, offset) = (perVolume, Header);
                }

                var part = Math.Min(room, length - done);
                volumes[^1].Add(Part(format, name, length, part, done > 0, done + part < length) with { DataOffset = offset, Crc32 = (uint)(7 * done) + 1 });
                done += part;
                room -= part;
                offset += part;
            }
        }

        return [.. volumes.Select((parts, index) => new RarVolume
        {
            Format = format,
            Length = parts[^1].DataOffset + parts[^1].DataLength + End,
            Number = hasNumbers ? index : null,
            IsVolume = true,
            IsFirst = hasNumbers && index == 0,
            Parts = parts,
            IsWhole = true,
            Continues = index < volumes.Count - 1,
            MainHeaderLength = 12,
        })];
    }

    public static RarPart Part(ArchiveFormat format, string name, long length, long dataLength, bool isSplitBefore = false, bool isSplitAfter = false) => new()
    {
        Identity = new RarIdentity(format, name, length, 1, 2, ""),
        DataOffset = Header,
        DataLength = dataLength,
        IsSplitBefore = isSplitBefore,
        IsSplitAfter = isSplitAfter,
    };

    /// <summary>Returns the part of a volume that is known after reading only its first file header.</summary>
    public static RarVolume HeadOf(RarVolume volume) => volume with
    {
        Parts = [volume.Head!],
        IsWhole = false,
        Continues = null,
        Number = volume.Format == ArchiveFormat.Rar5 ? volume.Number : null,
    };

    /// <summary>Returns the volumes with the given indexes, in that order.</summary>
    public static List<RarVolume> Pick(this IReadOnlyList<RarVolume> volumes, params int[] order) => [.. order.Select(index => volumes[index])];
}
