using System.Data.Common;
using System.Threading.Channels;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Events;
using Sluice.Server.Settings;

namespace Sluice.Server.Library;

/// <summary>
/// Deletes the picture files of removed films: at startup, after a change of the library, and when the size limit changes. Does nothing while the server is
/// idle.
/// </summary>
internal sealed class PictureWorker(PictureStore pictures, SluiceDatabase database, EventFeed feed, IOptionsMonitor<PictureOptions> options) : IWorker
{
    public string Name => "the pictures of films";

    public Task RunAsync(CancellationToken stopping) => database.WhileOpenAsync(async () =>
    {
        // A single queued sweep covers all changes before it.
        var wanted = Channel.CreateBounded<bool>(new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropWrite });
        using var removals = feed.Listen(happened =>
        {
            if (happened is ReleasesChanged)
                wanted.Writer.TryWrite(true);
        });
        using var changes = options.OnChange(_ => wanted.Writer.TryWrite(true));
        wanted.Writer.TryWrite(true);
        while (await wanted.Reader.WaitToReadAsync(stopping))
        {
            wanted.Reader.TryRead(out _);
            try
            {
                await pictures.SweepAsync(stopping);
            }
            catch (Exception e) when (e is DbException or StorageException)
            {
                // The next change sweeps again.
            }
        }
    });
}
