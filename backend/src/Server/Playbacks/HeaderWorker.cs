using System.Data.Common;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Library;

namespace Sluice.Server.Playbacks;

/// <summary>
/// Reads the headers of playing files whose media facts are not stored yet. This costs no download, because the player has just read the same bytes and they
/// are still in memory.
/// </summary>
internal sealed class HeaderWorker(PlaybackRegistry playbacks, TrackProbe probe, MediaStore store, SluiceDatabase database, TimeProvider time) : IWorker
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(2);

    public string Name => "the headers of played files";

    public Task RunAsync(CancellationToken stopping) => database.WhileOpenAsync(async () =>
    {
        using var timer = new PeriodicTimer(Interval, time);
        while (await timer.WaitForNextTickAsync(stopping))
        {
            foreach (var played in playbacks.List())
            {
                if (played.TryBeginHeader())
                    played.Media = await ReadAsync(played.File, stopping);
            }
        }
    });

    private async Task<MediaFacts?> ReadAsync(LibraryFile file, CancellationToken stopping)
    {
        try
        {
            return await store.FindAsync(file.Id, stopping) ?? ((await probe.ReadAsync(file, stopping)).Tracks is { } tracks ? MediaFacts.Of(tracks) : null);
        }
        catch (DbException)
        {
            // The UI then shows no running time. The next playback tries again.
            return null;
        }
    }
}
