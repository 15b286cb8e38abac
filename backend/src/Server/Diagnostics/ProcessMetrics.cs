using System.Diagnostics;
using System.Globalization;
using Sluice.Server.Backups;
using Sluice.Server.Database;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Diagnostics;

/// <summary>Metrics of the process, its runtime, the database and the backups.</summary>
internal sealed class ProcessMetrics(SluiceDatabase database, BackupWorker backups, TimeProvider time)
{
    private static readonly double StartedAt = StartTime();

    public ValueTask WriteAsync(MetricsWriter to, CancellationToken cancellationToken)
    {
        to.Gauge("sluice_build_info", "1, with version and commit of the running build.");
        to.Sample(1, ("version", BuildInfo.Version), ("commit", BuildInfo.Commit ?? ""));
        to.Histogram("sluice_db_write_seconds", "Time of a transaction, from its first write to its commit on disk.");
        to.Sample(database.WriteTimes);
        to.Gauge("sluice_backup_age_seconds", "Time for which the database has differed from the newest verified backup, or since its last check; absent without a backup.");
        if (backups.State.All is [var newest, ..])
            to.Sample(Math.Max(0, (time.WallTime() - newest.Manifest.StillTrueAt).TotalSeconds));
        WriteProcess(to);
        WriteRuntime(to);
        return ValueTask.CompletedTask;
    }

    private static void WriteProcess(MetricsWriter to)
    {
        to.Counter("process_cpu_seconds_total", "CPU time of the process, over all cores.");
        to.Sample(Environment.CpuUsage.TotalTime.TotalSeconds);
        to.Gauge("process_resident_memory_bytes", "Memory of the process in RAM.");
        to.Sample(Environment.WorkingSet);
        to.Gauge("process_start_time_seconds", "Start of the process, in Unix time.");
        to.Sample(StartedAt);
    }

    /// <summary>Returns when the process started, in Unix time.</summary>
    private static double StartTime()
    {
        using var process = Process.GetCurrentProcess();
        return new DateTimeOffset(process.StartTime).ToUnixTimeMilliseconds() / 1000.0;
    }

    private static void WriteRuntime(MetricsWriter to)
    {
        to.Counter("dotnet_gc_collections_total", "Garbage collections, by generation.");
        for (var generation = 0; generation <= GC.MaxGeneration; generation++)
            to.Sample(GC.CollectionCount(generation), ("generation", generation.ToString(CultureInfo.InvariantCulture)));
        to.Counter("dotnet_gc_pause_seconds_total", "Time for which garbage collections stopped all threads.");
        to.Sample(GC.GetTotalPauseDuration().TotalSeconds);
        to.Counter("dotnet_gc_allocated_bytes_total", "Bytes allocated by managed code.");
        to.Sample(GC.GetTotalAllocatedBytes());
        to.Gauge("dotnet_gc_heap_bytes", "Size of the managed heap.");
        to.Sample(GC.GetTotalMemory(forceFullCollection: false));
        to.Gauge("dotnet_thread_pool_threads", "Threads of the thread pool.");
        to.Sample(ThreadPool.ThreadCount);
        to.Gauge("dotnet_thread_pool_queue_length", "Work items that wait for a thread.");
        to.Sample(ThreadPool.PendingWorkItemCount);
    }
}
