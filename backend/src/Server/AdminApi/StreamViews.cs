using Sluice.Server.Library;
using Sluice.Server.Playbacks;
using Sluice.Server.Providers;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams;

namespace Sluice.Server.AdminApi;

/// <summary>Playbacks as the API shows them. All of it is asked for at the moment in which it is wanted; nothing is kept.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class StreamViews(PlaybackRegistry playbacks, FileStreamFactory files, ProviderHost providers, ThroughputSampler sampler, TimeProvider time)
{
    private const int MostRows = 200;
    private const int MostScans = 100;
    private const int MostCells = 400;
    private const int MostArticles = 100;

    // Seconds over which the present rate is taken: players take what they need in portions.
    private const int RateSeconds = 3;

    // A client that has asked for nothing for so long has been stopped by its viewer; the read-ahead is given back from then on, too.
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(10);

    // Of the wait for the limit of bandwidth, which lets one command go after the other.
    private static readonly TimeSpan PacedOfLate = TimeSpan.FromSeconds(1);

    /// <summary>What is playing now.</summary>
    /// <param name="seq">Events up to this number are in it.</param>
    public StreamRows Rows(long seq = 0)
    {
        var fetching = providers.Look();
        return new StreamRows([.. playbacks.List().Take(MostRows).Select(played => Row(played.Snapshot(), fetching).Row)], Scans(), seq);
    }

    /// <summary>All that is known of a playback; null where there is none of this id any more.</summary>
    public async Task<StreamDetail?> DetailAsync(string id, CancellationToken cancellationToken)
    {
        if (playbacks.Find(id) is not { } played)
            return null;
        var map = await MapAsync(played.File, cancellationToken);
        var seen = played.Snapshot();
        var (row, wait) = Row(seen, providers.Look());
        return new StreamDetail(
            row,
            map,
            Articles(seen.Stream),
            [.. seen.LastSeeks.Select(static seek => new StreamSeek(seek.At, seek.Offset, seek.FirstByteMs))],
            wait,
            seen.Repeated + (seen.Stream?.Repeated ?? 0),
            seen.Requests,
            seen.Rates);
    }

    /// <summary>Ends a playback.</summary>
    /// <returns>Whether there was one of this id.</returns>
    public bool Stop(string id) => playbacks.Stop(id);

    private List<ScanRow> Scans() =>
        [.. playbacks.ListScans().Take(MostScans).Select(static scan => new ScanRow(scan.Client.Address, scan.Client.Player, scan.Files, scan.Bytes))];

    private (StreamRow Row, StreamWait Wait) Row(PlaybackSnapshot seen, FetchingSnapshot fetching)
    {
        var wait = Why(seen, fetching);
        var played = seen.Played;
        var recent = seen.Rates.TakeLast(RateSeconds).ToArray();
        var row = new StreamRow(
            played.Id,
            new StreamFile(played.File.Id.ToString("D"), played.File.Name, PathOf(played.File), played.File.Length),
            played.Client.Address,
            played.Client.Player,
            seen.Open == 0 ? PlaybackState.Ended : seen.ClientIdle >= Pause ? PlaybackState.Paused : PlaybackState.Playing,
            played.StartedAt,
            seen.LastReadAt,
            seen.Position,
            seen.Stream?.AheadBytes ?? 0,
            seen.BytesSent,
            recent.Length == 0 ? 0 : recent.Sum() / recent.Length,
            seen.FirstByteMs,
            seen.Seeks,
            wait.Reason);
        return (row, wait);
    }

    private StreamWait Why(PlaybackSnapshot seen, FetchingSnapshot fetching)
    {
        // The reader waits for the first segment that is not there.
        var lacking = (seen.Stream?.Slots ?? []).Where(static slot => !slot.IsReady).Cast<SlotSnapshot?>().FirstOrDefault();
        var fetch = lacking?.Fetch;
        var (reason, value, unit) = WaitPolicy.Decide(new WaitFacts
        {
            IsOpen = seen.Open > 0,
            Waiting = seen.Waiting,
            WaitedShare = seen.WaitedShare,
            ClientIdle = seen.ClientIdle,
            Stage = fetch?.Stage,
            IsRepeated = lacking?.IsRepeated == true || fetch?.IsLate == true,
            Asked = fetch is { AskedAt: > 0 } asked ? time.GetElapsedTime(asked.AskedAt) : seen.Waiting,
            Providers = fetching.Providers,
            Reachable = fetching.Reachable,
            OpenConnections = fetching.Open,
            UsedConnections = fetching.Used,
            IsPaced = fetching.Limit > 0 && fetching.SincePaced < PacedOfLate,
            Limit = fetching.Limit,
            IsLineFull = fetching.IsLineFull,
            Received = sampler.Now.FromProviders,
            IsCrowded = seen.Stream?.IsCrowded == true,
            Streams = seen.Stream?.Streams ?? 0,
            ProcessorPercent = sampler.ProcessorPercent,
        });
        var since = reason == WaitReason.PlayerSlow || seen.Waiting == TimeSpan.Zero ? seen.LastReadAt : time.WallTime() - seen.Waiting;
        return new StreamWait(reason, value, unit, since);
    }

    private List<StreamArticle> Articles(StreamSnapshot? stream)
    {
        var articles = new List<StreamArticle>();
        foreach (var slot in stream?.Slots ?? [])
        {
            // What waits for a connection has not been asked for.
            if (slot.Fetch is not { Stage: FetchStage.Asked or FetchStage.Receiving } fetch || articles.Count == MostArticles)
                continue;
            var flow = fetch.IsLate ? ArticleFlow.Late : fetch.Stage == FetchStage.Receiving ? ArticleFlow.Receiving : ArticleFlow.Asked;
            articles.Add(new StreamArticle(fetch.Provider, slot.Offset, slot.Arrived, time.GetElapsedTime(fetch.AskedAt).TotalMilliseconds, flow));
        }

        return articles;
    }

    private async Task<BufferMap> MapAsync(LibraryFile file, CancellationToken cancellationToken)
    {
        try
        {
            var cells = await files.GetCellsAsync(file, MostCells, cancellationToken);
            return new BufferMap(cells.Cells, cells.MemoryBytes, cells.DiskBytes, cells.UnderWay, cells.Gone);
        }
        catch (Exception failure) when (Playback.Explain(failure) is not null)
        {
            // The release was removed, or what is stored about it cannot be read; the rest is known all the same.
            return new BufferMap("", 0, 0, 0, 0);
        }
    }

    /// <summary>The path of a file below <c>/content</c>; the built-in clip lies in its category.</summary>
    private static string PathOf(LibraryFile file) => file.Release.Id == 0
        ? $"{file.Release.Category}/{file.Path}"
        : $"{file.Release.Category}/{file.Release.Name}/{file.Path}";
}
