using System.Globalization;
using Microsoft.AspNetCore.Http.HttpResults;
using Sluice.Server.Library;
using Sluice.Usenet.Media;
using Sluice.Usenet.Media.Subtitles;
using Sluice.Usenet.Media.Tracks;

namespace Sluice.Server.AdminApi;

/// <summary><c>/api/files/{id}/subtitles</c>: the external and embedded subtitles of a film.</summary>
internal static class SubtitleResource
{
    private const string WebVtt = "text/vtt";

    // Maximum position in a film, so that no search goes beyond it.
    private const long MaxTime = 100 * 60 * 60 * 1000;

    public static void MapSubtitles(this RouteGroupBuilder files)
    {
        files.MapGet("/{id}/subtitles", ListAsync).WithName("ListSubtitles");
        // The API description allows one response type per status, so it omits the WebVTT of files, which only a <track> reads.
        files.MapGet("/{id}/subtitles/{subtitle}", ReadAsync).Produces<SubtitlePart>().WithName("ReadSubtitles");
    }

    private static async Task<Results<Ok<SubtitleList>, JsonHttpResult<Problem>>> ListAsync(
        string id, LibraryTree tree, TrackProbe tracks, SubtitleProbe subtitles, CancellationToken cancellationToken)
    {
        if (await FileResource.FindAsync(id, tree, cancellationToken) is not { } film)
            return FileResource.NotFound();
        var sidecars = await subtitles.ListSidecarsAsync(film, cancellationToken);
        var (header, failure) = await tracks.ReadAsync(film, cancellationToken);
        var inside = header?.Tracks.Where(static track => track.Kind == TrackKind.Subtitle) ?? [];
        return TypedResults.Ok(new SubtitleList(
            header switch
            {
                null => TracksState.Unreadable,
                { Verdict: TracksVerdict.Known } => TracksState.Known,
                _ => TracksState.Unknown,
            },
            [.. sidecars.Select(Entry), .. inside.Select(Entry)],
            header is null ? FileResource.SentenceOf(failure) : null));
    }

    // from, to: milliseconds; only for tracks, of which one call reads at most ten minutes. A file is returned whole, as WebVTT.
    private static async Task<IResult> ReadAsync(
        string id, string subtitle, long? from, long? to, LibraryTree tree, SubtitleProbe subtitles, CancellationToken cancellationToken)
    {
        if (await FileResource.FindAsync(id, tree, cancellationToken) is not { } film)
            return FileResource.NotFound();
        if (Guid.TryParseExact(subtitle, "D", out var file))
            return await ReadFileAsync(film, file, subtitles, cancellationToken);
        if (!int.TryParse(subtitle, NumberStyles.None, CultureInfo.InvariantCulture, out var track))
            return NotFound();
        if (from is not (>= 0 and <= MaxTime) || to is not { } until || until <= from || until - from > FilmSubtitles.MaxStretch)
            return AdminProblem.BadInput("to", "Give from and to in milliseconds, at most ten minutes apart.");

        var (stretch, failure) = await subtitles.ReadStretchAsync(film, track, from.Value, until, cancellationToken);
        return (stretch, failure) switch
        {
            (null, null) => NotFound(),
            (null, ReadFailure.Gone) => Part(SubtitlePartState.Gap, [], from.Value, until, "These minutes of the film are missing at every provider."),
            (null, _) => Part(SubtitlePartState.Unreadable, [], from.Value, until, "These subtitles cannot be read right now. Try again in a few seconds."),
            ({ Verdict: StretchVerdict.Known }, _) => Part(SubtitlePartState.Known, stretch.Cues, from.Value, stretch.End, null),
            ({ Verdict: StretchVerdict.NoIndex }, _) => Part(
                SubtitlePartState.Unindexed, [], from.Value, until, "This film has no index, so its subtitles can only be shown by a player such as VLC."),
            _ => Part(SubtitlePartState.Unindexed, [], from.Value, until, "The index of this film is wrong, so its subtitles can only be shown by a player such as VLC."),
        };
    }

    private static async Task<IResult> ReadFileAsync(LibraryFile film, Guid file, SubtitleProbe subtitles, CancellationToken cancellationToken)
    {
        var sidecars = await subtitles.ListSidecarsAsync(film, cancellationToken);
        if (sidecars.FirstOrDefault(sidecar => sidecar.File.Id == file) is not { } found)
            return NotFound();
        var (text, failure) = await subtitles.ReadAsync(found, cancellationToken);
        return text switch
        {
            null when failure is ReadFailure.Gone => AdminProblem.Of(StatusCodes.Status404NotFound, "gone", "This subtitle file is missing at every provider."),
            null => AdminProblem.Of(StatusCodes.Status503ServiceUnavailable, "unreadable", "This subtitle file cannot be read right now. Try again in a few seconds."),
            { Verdict: SubtitleVerdict.TooLarge } => AdminProblem.TestFailed("This subtitle file is larger than 8 MB or has more than 100,000 lines."),
            { Verdict: SubtitleVerdict.Unreadable } => AdminProblem.TestFailed("This file contains no subtitles that can be read."),
            _ => TypedResults.Text(SubtitleReader.ToWebVtt(text.Cues), WebVtt, System.Text.Encoding.UTF8),
        };
    }

    private static SubtitleEntry Entry(Sidecar sidecar) => new(
        IdPath.NameOf(sidecar.File.Id), SubtitlePlace.File, SubtitleForm.Text, CodecOf(sidecar.Kind), sidecar.Name.Language, sidecar.File.Name,
        sidecar.Name.IsForced, sidecar.Name.DescribesSounds, false);

    private static SubtitleEntry Entry(MediaTrack track, int number) => new(
        number.ToString(CultureInfo.InvariantCulture), SubtitlePlace.Track, track.Form ?? SubtitleForm.Other, track.Codec, track.Language, track.Title,
        track.IsForced, track.DescribesSounds, track.IsDefault);

    private static string CodecOf(MediaKind kind) => kind switch
    {
        MediaKind.SubRip => "SubRip",
        MediaKind.SubStation => "ASS",
        _ => "WebVTT",
    };

    private static Ok<SubtitlePart> Part(SubtitlePartState state, IReadOnlyList<SubtitleCue> cues, long from, long to, string? sentence) =>
        TypedResults.Ok(new SubtitlePart(state, from, to, [.. cues.Select(SubtitleLine.Of)], sentence));

    private static JsonHttpResult<Problem> NotFound() => AdminProblem.NotFound("There are no such subtitles.");
}
