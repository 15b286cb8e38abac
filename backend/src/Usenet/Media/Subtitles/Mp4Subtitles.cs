using Sluice.Usenet.Media.Tracks;

namespace Sluice.Usenet.Media.Subtitles;

/// <summary>The timed text of an MP4 file, whose sample tables locate each text.</summary>
internal sealed class Mp4Subtitles : FilmSubtitles
{
    private readonly IReadOnlyList<(TextSource Source, IReadOnlyList<Mp4Sample> Samples)?> _tracks;
    private readonly long _length;

    /// <param name="sources">The subtitle tracks in file order; null for tracks without text.</param>
    /// <param name="length">Length of the film in bytes.</param>
    public Mp4Subtitles(IReadOnlyList<TextSource?> sources, long length)
    {
        _length = length;
        _tracks = [.. sources.Select(static source => source is { Tables: { } tables } ? (source with { Tables = null }, tables.ListSamples()) : ((TextSource, IReadOnlyList<Mp4Sample>)?)null)];
    }

    private protected override async ValueTask<SubtitleStretch?> ReadTrackAsync(
        int track, long from, long to, StretchReader read, CancellationToken cancellationToken)
    {
        if (track >= _tracks.Count || _tracks[track] is not var (source, samples))
            return null;

        // A fragmented film has no samples in its header.
        if (samples.Count == 0)
            return new SubtitleStretch(StretchVerdict.NoIndex, [], from);
        var found = new List<(long Start, long? End, string Text)>();
        foreach (var sample in samples.Where(sample => sample.Start < to && sample.End > from && sample.Size is > 2 and <= MaxText).OrderBy(static sample => sample.Offset))
        {
            if (sample.Offset < 0 || sample.Offset > _length - sample.Size)
                return new SubtitleStretch(StretchVerdict.Damaged, [], from);
            var bytes = await read(sample.Offset, sample.Size, sample.Offset + sample.Size, cancellationToken);
            found.Add((Math.Max(0, sample.Start), sample.End, CueBlock.TextOf(source, bytes)));
        }

        return new SubtitleStretch(StretchVerdict.Known, CueBlock.InStretch(found, from, to), to);
    }
}
