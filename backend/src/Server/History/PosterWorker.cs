using System.Data.Common;
using System.Threading.Channels;
using Dapper;
using Microsoft.Extensions.Options;
using Sluice.Server.Arr;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Events;
using Sluice.Server.Library;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.History;

/// <summary>
/// Fetches a release's poster once, after Sonarr or Radarr has removed the release from the history, because it has then been imported. Runs only when the
/// history changes, so that an idle server sends no requests and writes nothing.
/// </summary>
internal sealed class PosterWorker(
    ArrPosters posters, PictureStore pictures, SluiceDatabase database, EventFeed feed, IOptionsMonitor<PictureOptions> options, TimeProvider time) : IWorker
{
    private const int MostReleases = 20;

    // The front page does not show older releases.
    private static readonly TimeSpan Window = TimeSpan.FromDays(7);

    // All items of a season complete at about the same time.
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(2);

    public string Name => "the posters of films";

    public Task RunAsync(CancellationToken stopping) => database.WhileOpenAsync(async () =>
    {
        var wanted = Channel.CreateBounded<bool>(new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropWrite });
        using var changes = feed.Listen(happened =>
        {
            if (happened is HistoryItemsChanged)
                wanted.Writer.TryWrite(true);
        });
        wanted.Writer.TryWrite(true);
        while (await wanted.Reader.WaitToReadAsync(stopping))
        {
            await Task.Delay(Pause, time, stopping);
            wanted.Reader.TryRead(out _);
            if (!options.CurrentValue.FetchesPosters || !posters.CanAsk)
                continue;
            try
            {
                foreach (var release in await ListAsync(stopping))
                    await FetchAsync(release, stopping);
            }
            catch (Exception e) when (e is ArrException or DbException or StorageException)
            {
                // The result is unknown, so the next change of the history asks again.
            }
        }
    });

    private async Task FetchAsync(WantedRow release, CancellationToken stopping)
    {
        var poster = await posters.FindAsync(release.Download, PictureStore.MaxPosterBytes, stopping);
        // An empty poster records that the programs were asked and had none.
        await pictures.SavePosterAsync(release.Id, PictureStore.Judge(poster.Span) is null ? default : poster, stopping);
    }

    private Task<IReadOnlyList<WantedRow>> ListAsync(CancellationToken stopping) => database.ReadAsync<IReadOnlyList<WantedRow>>(
        connection => [.. connection.Query<WantedRow>(
                """
                SELECT r.id AS Id, h.id AS Download FROM release r JOIN history_item h ON h.release_id = r.id
                WHERE r.published_at > @since AND h.archived > 0 AND h.reason IS NULL
                  AND NOT EXISTS (SELECT 1 FROM picture p WHERE p.release_id = r.id AND p.file_id = '')
                ORDER BY r.published_at DESC LIMIT @most
                """,
                new { since = (time.WallTime() - Window).ToUnixTimeMilliseconds(), most = MostReleases })],
        stopping);

    internal sealed record WantedRow
    {
        public long Id { get; init; }
        public required string Download { get; init; }
    }
}
