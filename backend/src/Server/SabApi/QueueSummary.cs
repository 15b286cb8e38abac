using System.Text.Json;
using Sluice.Server.Database;
using Sluice.Server.Queue;

namespace Sluice.Server.SabApi;

/// <summary>Figures over the whole queue.</summary>
/// <param name="EncodedBytes">Size of all items.</param>
/// <param name="BytesToGo">Bytes that are not done.</param>
/// <param name="Longest">Until the last of the running items is done; null when none can be estimated.</param>
/// <param name="IsWorking">Whether any item is worked on.</param>
internal sealed record QueueSummary(long EncodedBytes, long BytesToGo, TimeSpan? Longest, bool IsWorking)
{
    /// <summary>Sums up. Only items being worked on have progress.</summary>
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
            await foreach (var item in store.StreamAsync(new QueueFilter { Ids = [.. running.Keys] }, 0, 0, cancellationToken))
                left -= item.EncodedBytes - BytesLeft(item.EncodedBytes, running[item.Id].Percent);
        }

        return new QueueSummary(totals.EncodedBytes, left, running.Values.Select(work => TimeLeft(work, time)).Max(), running.Count > 0);
    }

    /// <summary>The part of a size that is not done (SAB-30).</summary>
    public static long BytesLeft(long bytes, int percent) => (long)(bytes * (100 - percent) / 100m);

    /// <summary>Estimated from progress and elapsed time; null when there is none yet.</summary>
    public static TimeSpan? TimeLeft(ItemActivity? work, TimeProvider time) =>
        work is { Percent: > 0 } ? time.GetElapsedTime(work.Began) * (100 - work.Percent) / work.Percent : null;
}

/// <summary>The fields of <c>queue</c> that speak of the server and not of its items.</summary>
internal sealed class QueueHeader(DataFolder folder, TrafficRate traffic)
{
    /// <summary>Writes the fields.</summary>
    public void Write(Utf8JsonWriter json, QueueSummary summary)
    {
        var (free, total) = MeasureDisk();
        var rate = traffic.BytesPerSecond();
        json.WriteString("version", SabTexts.Version);
        json.WriteBoolean("paused", false);
        json.WriteString("pause_int", "0");
        json.WriteBoolean("paused_all", false);
        json.WriteString("diskspace1", SabUnits.Gibibytes(free));
        json.WriteString("diskspace2", SabUnits.Gibibytes(free));
        json.WriteString("diskspacetotal1", SabUnits.Gibibytes(total));
        json.WriteString("diskspacetotal2", SabUnits.Gibibytes(total));
        json.WriteString("diskspace1_norm", SabUnits.Short(free));
        json.WriteString("diskspace2_norm", SabUnits.Short(free));
        json.WriteString("speedlimit", "100");
        json.WriteString("speedlimit_abs", "0");
        json.WriteString("have_warnings", "0");
        json.WriteNull("finishaction");
        json.WriteString("quota", SabUnits.Size(0));
        json.WriteBoolean("have_quota", false);
        json.WriteString("left_quota", SabUnits.Size(0));
        json.WriteString("cache_art", "0");
        json.WriteString("cache_size", SabUnits.Size(0));
        json.WriteString("kbpersec", SabUnits.Kibibytes(rate));
        json.WriteString("speed", SabUnits.Short(rate));
        json.WriteString("mb", SabUnits.Mebibytes(summary.EncodedBytes));
        json.WriteString("mbleft", SabUnits.Mebibytes(summary.BytesToGo));
        json.WriteString("size", SabUnits.Size(summary.EncodedBytes));
        json.WriteString("sizeleft", SabUnits.Size(summary.BytesToGo));
        json.WriteString("status", summary.IsWorking ? SabWords.Downloading : "Idle");
        json.WriteString("timeleft", SabUnits.TimeLeft(summary.Longest));
    }

    private (long Free, long Total) MeasureDisk()
    {
        var drive = new DriveInfo(folder.Root);
        return (drive.AvailableFreeSpace, drive.TotalSize);
    }
}
