using Sluice.Server.Library;
using Sluice.Server.Playbacks;
using Sluice.Server.Providers;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;

namespace Sluice.Server.AdminApi;

/// <summary>Playbacks, as shown by the API. Everything is computed on demand; nothing is cached.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class StreamViews(PlaybackRegistry playbacks, FileStreamFactory files, ProviderHost providers, PlaybackWaits waits, TimeProvider time)
{
    private const int MostRows = 200;
    private const int MostScans = 100;
    private const int MostCells = 400;
    private const int MostArticles = 100;

    // Average the rate over some seconds, because players read in bursts.
    private const int RateSeconds = 10;

    public StreamRows Rows(long seq = 0)
    {
        var fetching = providers.Snapshot();
        return new StreamRows([.. playbacks.List().Take(MostRows).Select(played => Row(played.Snapshot(), fetching).Row)], Scans(), seq);
    }

    public async Task<StreamDetail?> DetailAsync(string id, CancellationToken cancellationToken)
    {
        if (playbacks.Find(id) is not { } played)
            return null;
        var map = await MapAsync(played.File, cancellationToken);
        var seen = played.Snapshot();
        var (row, wait) = Row(seen, providers.Snapshot());
        return new StreamDetail(
            row,
            map,
            Articles(seen.Stream),
            seen.LastSeeks,
            wait,
            seen.Repeated + (seen.Stream?.Repeated ?? 0),
            seen.Requests,
            seen.Rates);
    }

    public bool Stop(string id) => playbacks.Stop(id);

    private List<ScanRow> Scans() =>
        [.. playbacks.ListScans().Take(MostScans).Select(static scan => new ScanRow(scan.Client.Address, scan.Client.Player, scan.Files, scan.Bytes))];

    private (StreamRow Row, StreamWait Wait) Row(PlaybackSnapshot seen, FetchingSnapshot fetching)
    {
        var wait = waits.Of(seen, fetching);
        var played = seen.Played;
        var recent = seen.Rates.TakeLast(RateSeconds).ToArray();
        var row = new StreamRow(
            played.Id,
            new StreamFile(played.File.Id.ToString("D"), played.File.Name, PathOf(played.File), played.File.Length, FilmTitle.Of(played.Title), played.Media?.Duration),
            played.Client.Address,
            played.Client.Player,
            seen.State,
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

    private List<StreamArticle> Articles(StreamSnapshot? stream)
    {
        var articles = new List<StreamArticle>();
        foreach (var slot in stream?.Slots ?? [])
        {
            // Skip a fetch that waits for a connection, because its request has not been sent yet.
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
            // The release was removed or its map is unreadable, but the other details are still available.
            return new BufferMap("", 0, 0, 0, 0);
        }
    }

    /// <summary>Returns the path below <c>/content</c>. The built-in clip has no release folder.</summary>
    private static string PathOf(LibraryFile file) => file.Release.Id == 0
        ? $"{file.Release.Category}/{file.Path}"
        : $"{file.Release.Category}/{file.Release.Name}/{file.Path}";
}
