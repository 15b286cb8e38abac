using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Archives;

/// <summary>Joins the volumes of one RAR archive. Pure.</summary>
public static class RarSet
{
    /// <summary>Joins the parts of all volumes into files.</summary>
    /// <remarks>
    /// Each volume must continue the file of the previous one, and the parts of a stored file must add up to its exact length (IMP-53). If a neighbor
    /// does not fit but a later volume does, the order is wrong and the set is <see cref="ArchiveFault.Broken"/>. Otherwise the fitting volume was
    /// never posted and the set is <see cref="ArchiveFault.Incomplete"/>. A volume that appears twice in a row counts once.
    /// </remarks>
    /// <param name="volumes">The volumes in order, with all parts known (<see cref="RarVolume.HasAllParts"/>) or predicted.</param>
    /// <param name="passwords">For encrypted stored files; compressed files get no cipher.</param>
    /// <exception cref="ArchiveException">The volumes do not form a complete archive, or a file cannot be decrypted.</exception>
    public static ArchiveMap Join(IReadOnlyList<RarVolume> volumes, RarPasswords passwords)
    {
        ArgumentOutOfRangeException.ThrowIfZero(volumes.Count);
        if (volumes.Any(volume => !volume.HasAllParts))
            throw new ArgumentException("A volume was not read far enough.", nameof(volumes));

        CheckNumbers(volumes);
        var joiner = new RarSetJoiner(volumes, passwords);
        for (var index = 0; index < volumes.Count; index++)
        {
            if (index == 0 || !volumes[index].IsCopyOf(volumes[index - 1]))
                joiner.Append(index);
        }

        return joiner.Finish();
    }

    /// <summary>
    /// Whether checksums prove the order of a file's parts (IMP-51). Each part but the last has its own CRC, and the last part has the file's CRC. Without
    /// volume numbers and names there is no other proof.
    /// </summary>
    /// <param name="parts">All parts of one stored, unencrypted file, in the order to prove.</param>
    /// <param name="lastCrc32">CRC-32 of the bytes of the last part. No header contains it, so the caller must read the part.</param>
    /// <returns>Also false if a part has no checksum.</returns>
    public static bool IsOrderProved(IReadOnlyList<RarPart> parts, uint lastCrc32)
    {
        if (parts.Count == 0 || parts.Any(part => part.Crc32 is null || part.Method is not null || part.Encryption is not null))
            return false;

        var sum = 0u;
        foreach (var part in parts.SkipLast(1))
            sum = Crc32Kernel.Combine(sum, part.Crc32!.Value, part.DataLength);
        return Crc32Kernel.Combine(sum, lastCrc32, parts[^1].DataLength) == parts[^1].Crc32;
    }

    /// <summary>Checks that known numbers count from 0 without a gap.</summary>
    private static void CheckNumbers(IReadOnlyList<RarVolume> volumes)
    {
        if (volumes.Any(volume => volume.Format != volumes[0].Format))
            throw new ArchiveException(ArchiveFault.Broken, "its volumes are of different formats");
        if (!volumes[0].IsFirst && volumes.Skip(1).Any(volume => volume.IsFirst))
            throw RarSetJoiner.WrongOrder();

        var known = volumes.Where(volume => volume.Number is not null).Select(volume => volume.Number!.Value).ToHashSet();
        var next = 0;
        for (var i = 0; i < volumes.Count; i++)
        {
            if (i > 0 && volumes[i].IsCopyOf(volumes[i - 1]))
                continue;
            if (volumes[i].Number is { } number && number != next)
                throw number < next || known.Contains(next) ? RarSetJoiner.WrongOrder() : RarSetJoiner.Missing($"volume {next + 1}");
            next++;
        }
    }
}

/// <summary>The state while joining volumes. Needs all volumes, because a missing part may come later.</summary>
internal sealed class RarSetJoiner(IReadOnlyList<RarVolume> volumes, RarPasswords passwords)
{
    private readonly List<ArchiveEntry> _entries = [];
    private readonly List<string> _notes = [];

    // The file in progress: its last part and its extents; null between two files.
    private RarPart? _open;
    private List<ArchiveExtent> _extents = [];
    private long _sum;
    private bool _hasEnded;

    public static ArchiveException WrongOrder() => new(ArchiveFault.Broken, "its volumes are in the wrong order");

    public static ArchiveException Missing(string what) => new(ArchiveFault.Incomplete, $"{what} is missing");

    public void Append(int index)
    {
        var volume = volumes[index];
        if (_hasEnded)
            throw new ArchiveException(ArchiveFault.Broken, "a volume follows the last one");
        foreach (var part in volume.Parts)
        {
            CheckBeginning(part, index);
            _open = part;
            _sum += part.DataLength;
            if (part.DataLength > 0)
                _extents.Add(new ArchiveExtent(index, part.DataOffset, part.DataLength));
            if (!part.IsSplitAfter)
                Close(index);
        }

        _hasEnded = _open is null && volume.Continues == false;
    }

    /// <summary>Returns the archive once all volumes have been appended.</summary>
    public ArchiveMap Finish()
    {
        if (_open is not null || volumes[^1].Continues == true)
            throw Missing("the next volume");
        return new ArchiveMap(volumes[0].Format, _entries, _notes);
    }

    /// <summary>Checks that a part continues the open file, or begins a file if none is open.</summary>
    private void CheckBeginning(RarPart part, int index)
    {
        if (part.IsSplitBefore && part.Identity == _open?.Identity)
            return;
        if (_open is { } open)
            throw IsContinuedLater(open, index) ? WrongOrder() : Missing("a volume in the middle");
        if (part.IsSplitBefore)
            throw BeginsLater(part, index) ? WrongOrder() : Missing(index == 0 ? "the first volume" : "a volume in the middle");
    }

    private void Close(int index)
    {
        var last = _open!;
        if (last.Kind != RarPartKind.File)
        {
            if (last.Kind == RarPartKind.Link)
                _notes.Add($"The link {last.Path} is left out.");
        }
        else if (last.UnpackedLength > 0)
        {
            if (last.Method is null)
                CheckSum(last, index);
            _entries.Add(new ArchiveEntry
            {
                Path = last.Path,
                Length = last.UnpackedLength,
                Extents = _extents,
                Method = last.Method,
                Cipher = last is { Method: null, Encryption: { } encryption } ? CipherOf(encryption) : null,
                Crc32 = last.Crc32,
            });
        }

        (_open, _extents, _sum) = (null, [], 0);
    }

    private void CheckSum(RarPart last, int index)
    {
        const int CipherBlock = 16;
        var expected = last.UnpackedLength;
        if (last.Encryption is not null)
            expected += -expected & (CipherBlock - 1);
        if (_sum > expected)
            throw new ArchiveException(ArchiveFault.Broken, "a file has more data than its length");
        if (_sum == expected)
            return;
        if (!last.IsSplitBefore)
            throw new ArchiveException(ArchiveFault.Broken, "a file has less data than its length");
        throw IsContinuedLater(last, index) ? WrongOrder() : Missing("a volume in the middle");
    }

    private bool IsContinuedLater(RarPart open, int index) =>
        volumes.Skip(index + 1).Any(volume => volume.Head is { IsSplitBefore: true } head && head.Identity == open.Identity);

    private bool BeginsLater(RarPart part, int index) =>
        volumes.Skip(index + 1).Any(volume => volume.Tail is { IsSplitBefore: false } tail && tail.Identity == part.Identity);

    private StreamCipher CipherOf(RarEncryption encryption) =>
        passwords.Decide(encryption) is { } password ? passwords.CipherOf(encryption, password)
            : throw new ArchiveException(ArchiveFault.Unsupported, "its password cannot be checked");
}
