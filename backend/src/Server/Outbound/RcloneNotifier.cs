using System.Threading.Channels;
using Microsoft.Extensions.Options;
using Sluice.Server.Diagnostics;
using Sluice.Server.Settings;

namespace Sluice.Server.Outbound;

/// <summary>
/// Notifies the rclone that mounts the WebDAV tree of changed folders, because rclone caches listings (DAV-17). Changes during a call are sent in the next
/// call. Failed changes are sent again after an increasing delay, or with the next change. No request waits for rclone.
/// </summary>
internal sealed class RcloneNotifier(
    RcloneClient client, IOptionsMonitor<RcloneOptions> options, TimeProvider time, ILogger<RcloneNotifier> logger) : IWorker
{
    public static readonly TimeSpan FirstRetry = TimeSpan.FromSeconds(10);

    public static readonly TimeSpan LongestRetry = TimeSpan.FromMinutes(10);

    private readonly ChangedFolders _changed = new();
    private readonly Channel<bool> _signal = Channel.CreateBounded<bool>(
        new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropWrite, SingleReader = true });

    public string Name => "calls to rclone";

    /// <summary>Records that a release was published, hidden, restored or removed. Returns immediately.</summary>
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

    /// <summary>Sends changes until canceled. Changes that were not sent appear once rclone's own cache expires.</summary>
    public async Task RunAsync(CancellationToken stopping)
    {
        // An earlier run may have left unsent changes, so the first call is due immediately.
        TimeSpan? retry = TimeSpan.Zero;
        var failed = false;
        while (true)
        {
            await WaitForChangeAsync(retry, stopping);
            var notified = await NotifyAsync(failed, stopping);
            failed = notified is null ? failed : !notified.Value;
            retry = notified == false ? Next(retry) : null;
        }
    }

    private static TimeSpan Next(TimeSpan? retry) =>
        retry is not { } last || last == TimeSpan.Zero ? FirstRetry : last * 2 < LongestRetry ? last * 2 : LongestRetry;

    /// <summary>Returns at the next change, or when the retry is due.</summary>
    private async Task WaitForChangeAsync(TimeSpan? retry, CancellationToken stopping)
    {
        using var due = retry is { } after ? new CancellationTokenSource(after, time) : new CancellationTokenSource();
        using var wait = CancellationTokenSource.CreateLinkedTokenSource(stopping, due.Token);
        try
        {
            await _signal.Reader.ReadAsync(wait.Token);
        }
        catch (OperationCanceledException) when (!stopping.IsCancellationRequested)
        {
            // The retry is due.
        }
    }

    /// <returns>Whether the call succeeded; null if there were no changes.</returns>
    private async Task<bool?> NotifyAsync(bool failed, CancellationToken stopping)
    {
        var current = options.CurrentValue;
        if (_changed.Take() is not { } changed || !current.RcEnabled)
            return null;

        var cause = "the call broke";
        try
        {
            cause = await client.ForgetAsync(current, changed, stopping);
        }
        finally
        {
            if (cause is not null)
                _changed.Return(changed);
        }

        if (cause is not null)
        {
            if (failed)
                OutboundLog.NotifyFailedAgain(logger, cause);
            else
                OutboundLog.NotifyFailed(logger, cause);
            return false;
        }

        OutboundLog.Notified(logger, changed.Folders.Count);
        if (failed)
            OutboundLog.NotifyRecovered(logger);
        return true;
    }
}
