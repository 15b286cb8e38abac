using System.Globalization;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Providers;
using Sluice.Server.Queue;
using Sluice.Server.Settings;

namespace Sluice.Server.SabApi;

/// <summary>Totals of the queue.</summary>
/// <param name="Longest">Time until the last running item completes; null if unknown.</param>
internal sealed record QueueSummary(long EncodedBytes, long BytesToGo, TimeSpan? Longest, bool IsWorking)
{
    /// <summary>Calculates the totals of the queue. Only running items contribute progress.</summary>
    public static async Task<QueueSummary> TakeAsync(
        QueueStore store,
        QueueTotals totals,
        IReadOnlyDictionary<string, ItemActivity> running,
        TimeProvider time,
        CancellationToken cancellationToken)
    {
        var left = totals.EncodedBytes;
        if (running.Count > 0)
        {
            foreach (var (id, bytes) in await store.GetSizesAsync([.. running.Keys], cancellationToken))
                left -= bytes - BytesLeft(bytes, running[id].Percent);
        }

        return new QueueSummary(totals.EncodedBytes, left, running.Values.Select(work => TimeLeft(work, time)).Max(), running.Count > 0);
    }

    /// <summary>Returns the remaining bytes of an item (SAB-30).</summary>
    public static long BytesLeft(long bytes, int percent) => (long)(bytes * (100 - percent) / 100m);

    /// <summary>Extrapolates the remaining time from progress and elapsed time; null if there is no progress.</summary>
    public static TimeSpan? TimeLeft(ItemActivity? work, TimeProvider time) =>
        work is { Percent: > 0 } ? time.GetElapsedTime(work.Began) * (100 - work.Percent) / work.Percent : null;
}

/// <summary>The fields of <c>queue</c> that describe the server.</summary>
internal sealed class QueueHeader(
    DataFolder folder, QueuePause pause, BandwidthLimit bandwidth, IOptionsMonitor<QueueOptions> options, TrafficRate traffic, RecentWarnings warnings)
{
    public void Write(ISabWriter to, QueueSummary summary)
    {
        var (free, total) = MeasureDisk();
        var (rate, isPaused) = (traffic.BytesPerSecond(), pause.IsPaused);
        to.Field("version", SabTexts.Version);
        to.Field("paused", isPaused);
        to.Field("pause_int", SabUnits.PauseLeft(pause.Left));
        to.Field("paused_all", false);
        to.Field("diskspace1", SabUnits.Gibibytes(free));
        to.Field("diskspace2", SabUnits.Gibibytes(free));
        to.Field("diskspacetotal1", SabUnits.Gibibytes(total));
        to.Field("diskspacetotal2", SabUnits.Gibibytes(total));
        to.Field("diskspace1_norm", SabUnits.Short(free));
        to.Field("diskspace2_norm", SabUnits.Short(free));
        var percent = bandwidth.Configured == 0 ? options.CurrentValue.SpeedPercent : SpeedLimit.Percent(bandwidth.Current, bandwidth.Configured);
        to.Field("speedlimit", percent.ToString(CultureInfo.InvariantCulture));
        to.Field("speedlimit_abs", bandwidth.Current.ToString(CultureInfo.InvariantCulture));
        to.Field("have_warnings", warnings.Count.ToString(CultureInfo.InvariantCulture));
        to.Field("finishaction", null);
        to.Field("quota", SabUnits.Size(0));
        to.Field("have_quota", false);
        to.Field("left_quota", SabUnits.Size(0));
        to.Field("cache_art", "0");
        to.Field("cache_size", SabUnits.Size(0));
        to.Field("kbpersec", SabUnits.Kibibytes(rate));
        to.Field("speed", SabUnits.Short(rate));
        to.Field("mb", SabUnits.Mebibytes(summary.EncodedBytes));
        to.Field("mbleft", SabUnits.Mebibytes(summary.BytesToGo));
        to.Field("size", SabUnits.Size(summary.EncodedBytes));
        to.Field("sizeleft", SabUnits.Size(summary.BytesToGo));
        to.Field("status", isPaused ? SabWords.Paused : summary.IsWorking ? SabWords.Downloading : SabWords.Idle);
        to.Field("timeleft", SabUnits.TimeLeft(summary.Longest));
    }

    private (long Free, long Total) MeasureDisk()
    {
        var drive = new DriveInfo(folder.Root);
        return (drive.AvailableFreeSpace, drive.TotalSize);
    }
}
