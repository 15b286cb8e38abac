using Sluice.Usenet.Media;
using Sluice.Usenet.Probing;
using Sluice.Usenet.Streams;

namespace Sluice.Usenet.Archives;

/// <summary>Joined pieces and, for a 7z, zip or tar, their map. The map's extents refer to volume 0, the joined bytes.</summary>
internal sealed record JoinedSet(
    IReadOnlyList<int> Volumes, IArchiveInput Whole, MediaKind Kind, ArchiveMap? Map, IReadOnlyList<PredictedVolume> Predicted);

/// <summary>Joins pieces in the order of their names, and reads the resulting 7z, zip or tar, if any.</summary>
internal sealed class JoinedGroupReader(IVolumeSource source, ArchiveKeys keys, ArchiveBudget budget, MappingOptions options)
{
    /// <exception cref="ArchiveException">A piece is missing, or the archive cannot be read.</exception>
    public async Task<JoinedSet> ReadAsync(VolumeGroup group, CancellationToken cancellationToken)
    {
        if (group.Missing > 0)
            throw Incomplete("a volume in the middle or at the beginning", group.Members.Count + group.Missing);
        try
        {
            return await ReadAsync(group.Members, cancellationToken);
        }
        catch (ArticleGoneException gone)
        {
            throw PostedRelease.Lost(gone.Loss);
        }
    }

    /// <summary>Finds the pieces of archives among files without usable names, by the total length that the first piece states (IMP-50).</summary>
    /// <returns>One group of pieces per archive start; incomplete if pieces are missing.</returns>
    public async Task<IReadOnlyList<VolumeGroup>> FindPiecesAsync(VolumeGroup group, CancellationToken cancellationToken)
    {
        List<int> order = [.. group.Members];
        List<int> starts = [.. group.Members.Where(index => source.Candidates[index].Kind == MediaKind.SevenZip)];
        List<int> rest = [.. group.Members.Except(starts).Where(index => LengthOf(index) > 0)];
        var groups = new List<VolumeGroup>();
        foreach (var start in starts)
        {
            // With one archive the pieces may be anywhere; with several, they follow the start of their own archive.
            var behind = starts.Count == 1 ? rest : rest.Where(index => order.IndexOf(index) > order.IndexOf(start));
            List<int> pieces = [start, .. Take(behind, LengthOf(start), await TotalOfAsync(start, cancellationToken) - LengthOf(start))];
            rest.RemoveAll(pieces.Contains);
            groups.Add(new VolumeGroup(VolumeGroupKind.Joined, pieces, IsNamed: false, group.NeedsProof));
        }

        return groups;
    }

    private static ArchiveException Incomplete(string what, int volumes) =>
        new(ArchiveFault.Incomplete, $"{what} is missing") { Volumes = volumes };

    private long LengthOf(int index) => source.Candidates[index].Length ?? 0;

    // Selects pieces by length, because all pieces but the last are as long as the first.
    private List<int> Take(IEnumerable<int> candidates, long pieceLength, long wanted)
    {
        if (pieceLength == 0 || wanted <= 0)
            return [];
        var (full, rest) = (wanted / pieceLength, wanted % pieceLength);
        List<int> all = [.. candidates];
        return
        [
            .. all.Where(index => LengthOf(index) == pieceLength).Take((int)Math.Min(full, all.Count)),
            .. all.Where(index => rest > 0 && LengthOf(index) == rest).Take(1),
        ];
    }

    private async Task<JoinedSet> ReadAsync(IReadOnlyList<int> members, CancellationToken cancellationToken)
    {
        // The name decides, because a split zip begins with its own signature.
        var first = source.Candidates[members[0]];
        var kind = first is { Kind: MediaKind.Unknown, Volume.Format: VolumeFormat.Zip } ? MediaKind.Zip : first.Kind;
        if (kind == MediaKind.SevenZip && await TryPredictAsync(members, cancellationToken) is { } predicted)
            return predicted;

        await source.ContinueAsync(members, cancellationToken);
        if (MediaSignature.CategoryOf(kind) != MediaCategory.Archive)
        {
            // Measure the pieces, because the content does not reveal their lengths.
            if (members.Count > 1)
                await source.MeasureAsync(members, cancellationToken);
            return new JoinedSet(members, Join(members), await KindOfAsync(members, cancellationToken), null, []);
        }

        try
        {
            return await ReadArchiveAsync(members, kind, [], cancellationToken);
        }
        catch (ArchiveException failure) when (failure.Fault is ArchiveFault.Broken or ArchiveFault.Incomplete)
        {
            await source.MeasureAsync(members, cancellationToken);
            return await ReadArchiveAsync(members, kind, [], cancellationToken);
        }
    }

    /// <summary>Predicts the middle lengths of a split 7z. Safe because a 7z states its total length, and the lengths must add up exactly.</summary>
    private async Task<JoinedSet?> TryPredictAsync(IReadOnlyList<int> members, CancellationToken cancellationToken)
    {
        List<int> middle = [.. members.Where(index => source.Candidates[index].Length is null)];
        if (!options.PredictsVolumes || middle.Count == 0 || members.Count < 3 || middle.Contains(members[0]) || middle.Contains(members[^1]))
            return null;
        try
        {
            var total = await TotalOfAsync(members[0], cancellationToken);
            List<long?> lengths = [.. middle.Select(index => source.Predict(index, like: members[0], length: null))];
            if (lengths.Contains(null) || lengths.Sum() + members.Except(middle).Sum(index => source.Open(index).Length) != total)
                return null;
            return await ReadArchiveAsync(members, MediaKind.SevenZip, middle, cancellationToken);
        }
        catch (ArchiveException failure) when (failure.Fault is ArchiveFault.Broken or ArchiveFault.Incomplete)
        {
            return null;
        }
    }

    private async Task<JoinedSet> ReadArchiveAsync(IReadOnlyList<int> members, MediaKind kind, List<int> predicted, CancellationToken cancellationToken)
    {
        var whole = Join(members);
        var map = kind switch
        {
            MediaKind.SevenZip => await SevenZipReader.ReadAsync(whole, keys, budget, cancellationToken),
            MediaKind.Zip => await ZipReader.ReadAsync(whole, [.. members.Select(index => source.Open(index).Length)], budget, cancellationToken),
            MediaKind.Tar => await TarReader.ReadAsync(whole, budget, cancellationToken),
            MediaKind.Gzip => throw new ArchiveException(ArchiveFault.Unsupported, "it is packed with gzip"),
            _ => null,
        };
        return new JoinedSet(
            members, whole, kind, map,
            [.. predicted.Select(index => new PredictedVolume(index, 0, source.Open(index).Length, 0, IndexOf(members, index), RarExpectation.OfLength(source.HasKnownLength(index))))]);
    }

    /// <summary>Returns the total length of a 7z from its first bytes, which locate the header at its end.</summary>
    private async Task<long> TotalOfAsync(int index, CancellationToken cancellationToken)
    {
        var input = source.Open(index);
        if (input.Length < SevenZipStart.Size)
            throw new ArchiveException(ArchiveFault.Broken, "it is cut short");
        var bytes = new byte[SevenZipStart.Size];
        await input.ReadAsync(0, bytes, cancellationToken);
        return SevenZipStart.Read(bytes) is { } start ? start.Length : throw new ArchiveException(ArchiveFault.Broken, "its first bytes are damaged");
    }

    private async Task<MediaKind> KindOfAsync(IReadOnlyList<int> members, CancellationToken cancellationToken)
    {
        var known = source.Candidates[members[0]].Kind;
        if (known != MediaKind.Unknown)
            return known;
        var input = source.Open(members[0]);
        var start = new byte[Math.Min(MediaSignature.SufficientLength, input.Length)];
        await input.ReadAsync(0, start, cancellationToken);
        return MediaSignature.Recognise(start);
    }

    private JoinedInput Join(IReadOnlyList<int> members) => new([.. members.Select(source.Open)]);

    private static int IndexOf(IReadOnlyList<int> members, int index) => Enumerable.Range(0, members.Count).First(place => members[place] == index);
}
