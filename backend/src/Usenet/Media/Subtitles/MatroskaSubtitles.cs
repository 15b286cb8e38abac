using Sluice.Usenet.Media.Tracks;

namespace Sluice.Usenet.Media.Subtitles;

/// <summary>
/// The text tracks of a Matroska file. If the index has the track's blocks, only these blocks are read. Otherwise the index gives the clusters of the time
/// range, and the heads of all blocks in these clusters are read one by one.
/// </summary>
internal sealed class MatroskaSubtitles : FilmSubtitles
{
    private const uint CuesId = 0x1C53BB6B;

    // Shorter than the payload of most blocks, so that payloads are skipped and not read.
    private const int Piece = 16 << 10;

    // Most text blocks fit, so that one read returns head and text.
    private const int BlockPiece = 256;

    // Ten minutes have about 45,000 blocks.
    private const int MaxSteps = 500_000;

    private readonly IReadOnlyList<TextSource?> _tracks;
    private readonly MatroskaIndex? _index;
    private readonly MatroskaClock _clock;
    private readonly long _length;

    private MatroskaSubtitles(IReadOnlyList<TextSource?> tracks, MatroskaIndex? index, MatroskaClock clock, long length) =>
        (_tracks, _index, _clock, _length) = (tracks, index, clock, length);

    /// <summary>Reads the index of a file whose header is known.</summary>
    public static async ValueTask<FilmSubtitles> OpenAsync(
        MatroskaWalk header, IReadOnlyList<TextSource?> tracks, RangeReader read, long length, CancellationToken cancellationToken)
    {
        var clock = new MatroskaClock(header.Scale);
        var numbers = tracks.Where(static track => track is not null).Select(static track => track!.Number).ToHashSet();
        var index = numbers.Count > 0 && header.Cues is { } place ? await ReadIndexAsync(header.Segment, place, clock, numbers, read, length, cancellationToken) : null;
        return new MatroskaSubtitles(tracks, index, clock, length);
    }

    private protected override async ValueTask<SubtitleStretch?> ReadTrackAsync(
        int track, long from, long to, StretchReader read, CancellationToken cancellationToken)
    {
        if (track >= _tracks.Count || _tracks[track] is not { } source)
            return null;
        if (_index is null)
            return new SubtitleStretch(StretchVerdict.NoIndex, [], from);
        return _index.FindBlocks(source.Number, from, to) is { } blocks
            ? await ReadBlocksAsync(source, blocks, from, to, read, cancellationToken)
            : await ReadClustersAsync(source, from, to, read, cancellationToken);
    }

    private static async ValueTask<MatroskaIndex?> ReadIndexAsync(
        long segment, long place, MatroskaClock clock, HashSet<ulong> tracks, RangeReader read, long length, CancellationToken cancellationToken)
    {
        var bytes = await read(place, (int)Math.Min(EbmlHead.MaxLength, length - place), cancellationToken);
        if (!EbmlHead.TryRead(bytes.Span, out var head) || head.Id != CuesId || head.Size is <= 0 or > MatroskaIndex.MaxBytes || head.Size > length - place - head.Length)
            return null;
        bytes = await read(place + head.Length, (int)head.Size, cancellationToken);
        var index = MatroskaIndex.Parse(bytes.Span, clock, segment, length, tracks);
        return index.IsEmpty ? null : index;
    }

    private async ValueTask<SubtitleStretch> ReadBlocksAsync(
        TextSource source, IReadOnlyList<CuePlace> blocks, long from, long to, StretchReader read, CancellationToken cancellationToken)
    {
        if (blocks.Count > MaxCues)
        {
            to = Math.Max(from + 1, blocks.Select(static block => block.Time).Order().ElementAt(MaxCues));
            blocks = [.. blocks.Where(block => block.Time < to).Take(MaxCues)];
        }

        var found = new List<(long Start, long? End, string Text)>();
        var (cluster, content) = (-1L, 0L);
        foreach (var block in blocks)
        {
            if (block.Cluster != cluster)
            {
                var bytes = await ReadAsync(block.Cluster, EbmlHead.MaxLength, read, cancellationToken);
                if (!EbmlHead.TryRead(bytes.Span, out var head) || head.Id != ClusterWalk.ClusterId)
                    return new SubtitleStretch(StretchVerdict.Damaged, [], from);
                (cluster, content) = (block.Cluster, block.Cluster + head.Length);
            }

            // The index has the time, so the cluster's time is not read. It may be anywhere before the block.
            var walk = new ClusterWalk(source, _clock, content + block.Relative, long.MaxValue) { IsOne = true };
            var window = new WalkWindow(ReadOnlyMemory<byte>.Empty) { Piece = BlockPiece, Left = MaxText + 2 * BlockPiece, MaxSteps = 2 };
            await window.RunAsync(walk, (offset, length, token) => ReadAsync(offset, length, read, token), _length, cancellationToken);
            if (walk.IsDamaged || walk.Found.Count == 0)
                return new SubtitleStretch(StretchVerdict.Damaged, [], from);
            var (_, duration, text) = walk.Found[0];
            found.Add((block.Time, block.Time + (duration ?? block.Duration), text));
        }

        return new SubtitleStretch(StretchVerdict.Known, CueBlock.InStretch(found, from, to), to);
    }

    private async ValueTask<SubtitleStretch> ReadClustersAsync(
        TextSource source, long from, long to, StretchReader read, CancellationToken cancellationToken)
    {
        var (begin, end) = _index!.FindClusters(from, to, _length);
        var stop = Math.Min(end, begin + MaxWalk);
        var walk = new ClusterWalk(source, _clock, begin, to);
        var window = new WalkWindow(ReadOnlyMemory<byte>.Empty) { Piece = Piece, Left = MaxWalk, MaxSteps = MaxSteps };
        var isEnd = await window.RunAsync(walk, (offset, length, token) => read(offset, length, stop, token), stop, cancellationToken);
        if (walk.IsDamaged)
            return new SubtitleStretch(StretchVerdict.Damaged, [], from);

        // Advance by at least a millisecond, because otherwise the next range would begin where this range did.
        var reached = isEnd && stop == end && walk.Found.Count < MaxCues ? to : Math.Clamp(walk.Time, from + 1, to);
        return new SubtitleStretch(
            StretchVerdict.Known,
            CueBlock.InStretch([.. walk.Found.Select(cue => (cue.Time, cue.Time + cue.Duration, cue.Text))], from, to),
            reached);
    }

    private ValueTask<ReadOnlyMemory<byte>> ReadAsync(long offset, int length, StretchReader read, CancellationToken cancellationToken)
    {
        length = (int)Math.Clamp(_length - offset, 0, length);
        return length == 0 ? ValueTask.FromResult(ReadOnlyMemory<byte>.Empty) : read(offset, length, offset + length, cancellationToken);
    }
}
