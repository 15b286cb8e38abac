using System.Threading.Channels;
using Microsoft.Extensions.Options;
using Sluice.Server.Settings;

namespace Sluice.Server.Outbound;

/// <summary>
/// Tells the rclone that mounts the tree which folders have changed, so that it lists them anew instead of showing what it
/// remembers (DAV-17). What changes while a call is under way is told by the next one. What a failed call was about is told with
/// the next change: nobody waits for rclone, and nothing is tried again by itself.
/// </summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class RcloneNotifier(
    RcloneClient client, IOptionsMonitor<RcloneOptions> options, ILogger<RcloneNotifier> logger) : BackgroundService
{
    private readonly ChangedFolders _changed = new();
    private readonly Channel<bool> _signal = Channel.CreateBounded<bool>(
        new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropWrite, SingleReader = true });

    /// <summary>A release was published, hidden or removed. Returns at once.</summary>
    /// <param name="folder">Its folder below the branches of the tree.</param>
    /// <param name="name">Its name.</param>
    public void ReleaseChanged(string folder, string name)
    {
        if (!options.CurrentValue.RcEnabled)
            return;

        _changed.Add(
        [
            $"content/{folder}", $"content/{folder}/{name}",
            $"completed-symlinks/{folder}", $"completed-symlinks/{folder}/{name}",
            "nzbs", $"nzbs/{folder}",
        ]);
        _signal.Writer.TryWrite(true);
    }

    /// <inheritdoc/>
    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        try
        {
            var fails = false;
            await foreach (var _ in _signal.Reader.ReadAllAsync(stoppingToken))
                fails = await TellAsync(fails, stoppingToken);
        }
        catch (OperationCanceledException) when (stoppingToken.IsCancellationRequested)
        {
            // Changes that were not told show when rclone's own time for listings is over.
        }
    }

    /// <param name="failed">Whether the call before failed.</param>
    /// <param name="stoppingToken">The process ends.</param>
    /// <returns>Whether this one failed, or the one before if there was nothing to tell.</returns>
    private async Task<bool> TellAsync(bool failed, CancellationToken stoppingToken)
    {
        var current = options.CurrentValue;
        if (_changed.Take() is not { } changed || !current.RcEnabled)
            return failed;

        if (await client.ForgetAsync(current, changed, stoppingToken) is { } cause)
        {
            _changed.Return(changed);
            if (failed)
                OutboundLog.RcloneStillNotTold(logger, cause);
            else
                OutboundLog.RcloneNotTold(logger, cause);
            return true;
        }

        OutboundLog.RcloneTold(logger, changed.Folders.Count);
        if (failed)
            OutboundLog.RcloneToldAgain(logger);
        return false;
    }
}
