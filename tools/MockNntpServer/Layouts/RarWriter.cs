namespace Sluice.Tools.MockNntpServer.Layouts;

/// <summary>Distributes the entries of a stored RAR set over its volumes. Subclasses write the headers of each format.</summary>
internal abstract class RarWriter(LayoutSource source)
{
    // A single volume has no size limit.
    private const long NoLimit = long.MaxValue / 4;

    protected LayoutSource Source => source;

    protected ArchiveLayout Layout => source.Layout;

    /// <exception cref="ArgumentException">The content is too small for that many volumes.</exception>
    public IReadOnlyList<MockBytes> Write()
    {
        var plan = MakePlan();
        return [.. plan.Select((parts, volume) => Assemble(volume, parts, isLast: volume == plan.Count - 1))];
    }

    /// <summary>Returns the bytes before the first file header of a volume.</summary>
    protected abstract byte[] Opening(int volume);

    protected abstract byte[] FileHeader(RarPart part, uint crc);

    /// <summary>Returns the blocks between the last file of a volume and the end block.</summary>
    /// <param name="volume">0-based volume.</param>
    /// <param name="headers">Offset and bytes of each file header.</param>
    /// <param name="end">Offset of the blocks in the volume.</param>
    protected abstract MockBytes Services(int volume, IReadOnlyList<(long Offset, MockBytes Header)> headers, long end);

    protected abstract bool TellsCrc(LayoutFile file);

    /// <param name="volume">0-based volume.</param>
    /// <param name="crc">CRC of all previous bytes of the volume.</param>
    protected abstract byte[] Ending(int volume, bool isLast, uint crc);

    private List<List<RarPart>> MakePlan()
    {
        if (Layout.VolumeSize is { } given)
            return Plan(given) ?? throw new ArgumentException($"A volume of {given} bytes has no room for a header.");
        if (Layout.Volumes == 1)
            return Plan(NoLimit)!;

        // Find the smallest volume size with which the content fits into this many volumes.
        var (low, high) = (1L, source.Files.Sum(file => file.Stored.Length + 1024) + (1L << 20) + Layout.RecoveryBytes);
        while (low < high)
        {
            var middle = low + ((high - low) / 2);
            if (Plan(middle)?.Count <= Layout.Volumes)
                high = middle;
            else
                low = middle + 1;
        }

        var plan = Plan(high)!;
        return plan.Count == Layout.Volumes ? plan : throw new ArgumentException($"The content fills {plan.Count} volumes, not {Layout.Volumes}.");
    }

    /// <summary>Returns the parts in each volume; null if a volume is too small for any part.</summary>
    private List<List<RarPart>>? Plan(long size)
    {
        var plan = new List<List<RarPart>> { new() };
        var room = RoomOf(0, size);
        foreach (var file in source.Files)
        {
            long offset = 0;
            do
            {
                var part = Fit(file, offset, room);
                if (part is null && plan[^1].Count == 0)
                    return null;
                if (part is null)
                {
                    plan.Add([]);
                    room = RoomOf(plan.Count - 1, size);
                    continue;
                }

                plan[^1].Add(part);
                room -= FileHeader(part, 0).Length + QuickOpenRoom(part) + part.Length;
                offset = part.Offset + part.Length;
                if (part.GoesOn)
                    room = 0;
            }
            while (offset < file.Stored.Length || (file.Stored.Length == 0 && (plan[^1].Count == 0 || plan[^1][^1].File != file)));
        }

        return plan;
    }

    /// <summary>Returns the part of a file that fits into the room; null if nothing fits.</summary>
    private RarPart? Fit(LayoutFile file, long offset, long room)
    {
        var rest = file.Stored.Length - offset;
        var whole = new RarPart(file, offset, rest, GoesOn: false);
        if (FileHeader(whole, 0).Length + QuickOpenRoom(whole) + rest <= room)
            return whole;
        var part = whole with { GoesOn = true };
        var length = room - FileHeader(part, 0).Length - QuickOpenRoom(part);
        if (length < 1 || rest < 2)
            return null;
        part = part with { Length = Math.Min(length, rest - 1) };

        // Recompute, because a shorter length may need fewer header bytes.
        length = Math.Min(room - FileHeader(part, 0).Length - QuickOpenRoom(part), rest - 1);
        return length < 1 ? null : part with { Length = length };
    }

    /// <summary>Returns the size of a part's header copy in a quick open block.</summary>
    private int QuickOpenRoom(RarPart part) => Layout.HasQuickOpen ? FileHeader(part, 0).Length + 16 : 0;

    private long RoomOf(int volume, long size) =>
        size + Layout.ShiftOf(volume) - Opening(volume).Length - Services(volume, [], 0).Length - Ending(volume, isLast: false, 0).Length;

    private MockBytes Assemble(int volume, List<RarPart> parts, bool isLast)
    {
        var pieces = new List<MockBytes> { MockBytes.Of(Opening(volume)) };
        var headers = new List<(long Offset, MockBytes Header)>();
        var end = pieces[0].Length;
        foreach (var part in parts)
        {
            var bytes = part.File.Stored.Slice(part.Offset, part.Length);
            var header = MockBytes.Of(FileHeader(part, 0).Length, () => FileHeader(part, CrcOf(part, bytes)));
            headers.Add((end, header));
            pieces.Add(header);
            pieces.Add(bytes);
            end += header.Length + part.Length;
        }

        pieces.Add(Services(volume, headers, end));
        var before = MockBytes.Join(pieces);
        return MockBytes.Join([before, MockBytes.Of(Ending(volume, isLast, 0).Length, () => Ending(volume, isLast, before.Crc32))]);
    }

    /// <summary>Every part except the last has the CRC of its packed bytes.</summary>
    private uint CrcOf(RarPart part, MockBytes bytes) => !TellsCrc(part.File) ? 0 : part.GoesOn ? bytes.Crc32 : part.File.Crc;
}

/// <summary>The part of an entry in one volume.</summary>
/// <param name="Offset">0-based offset in the stored bytes.</param>
internal sealed record RarPart(LayoutFile File, long Offset, long Length, bool GoesOn);
