using Dapper;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Events;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue;

/// <summary>
/// Pauses the whole queue: only items of <see cref="QueuePriority.Force"/> start. Running imports and playback continue. An indefinite pause is the setting
/// <c>queue.paused</c>, and a timed one has its own row, so both survive restarts. Thread-safe. Changes run one at a time.
/// </summary>
internal sealed class QueuePause(
    SluiceDatabase database,
    SettingsStore settings,
    IOptionsMonitor<QueueOptions> options,
    QueueSchedule schedule,
    EventFeed events,
    TimeProvider time) : IWorker, IDisposable
{
    /// <summary>Maximum timed pause, because timers are limited to 49 days.</summary>
    public static readonly TimeSpan Longest = TimeSpan.FromDays(30);

    private const string Key = "queue.paused";

    // Serializes changes to the row and the setting.
    private readonly SemaphoreSlim _turn = new(1);

    // Null if no timed pause is active. Written by changes, one at a time, and by the current pause's timer.
    private TimedPause? _timed;

    public string Name => "the pause of the queue";

    public bool IsPaused => options.CurrentValue.IsPaused || Volatile.Read(ref _timed) is not null;

    /// <summary>Remaining time of a timed pause; null if the queue is not paused, or paused indefinitely.</summary>
    public TimeSpan? Left
    {
        get
        {
            if (options.CurrentValue.IsPaused || Volatile.Read(ref _timed) is not { } timed)
                return null;
            var left = time.GetElapsedTime(time.GetTimestamp(), timed.EndsAt);
            return left > TimeSpan.Zero ? left : TimeSpan.Zero;
        }
    }

    public async Task PrepareAsync(CancellationToken cancellationToken)
    {
        // Safe mode has no database.
        if (!database.IsOpen)
            return;
        var until = await database.ReadAsync(connection => connection.ExecuteScalar<long?>("SELECT until FROM queue_pause"), cancellationToken);
        if (until is not { } stored)
            return;
        var end = time.TimestampOf(StoredTime.Read(stored), TimeSpan.Zero, Longest);
        if (time.GetElapsedTime(time.GetTimestamp(), end) > TimeSpan.Zero)
            Set(new TimedPause(end));
    }

    /// <summary>Pauses the queue, replacing an earlier pause. Returns false if an environment variable sets the pause.</summary>
    /// <param name="length">Duration, at most <see cref="Longest"/>; null for an indefinite pause.</param>
    public Task<bool> PauseAsync(TimeSpan? length, CancellationToken cancellationToken) =>
        length is { } asked ? ChangeAsync(false, asked < Longest ? asked : Longest, cancellationToken) : ChangeAsync(true, null, cancellationToken);

    /// <returns>False if an environment variable sets the pause.</returns>
    public Task<bool> ResumeAsync(CancellationToken cancellationToken) => ChangeAsync(false, null, cancellationToken);

    /// <summary>Publishes a change of the pause, and wakes the worker because items may start now.</summary>
    public void ReportChange()
    {
        events.Publish(new QueuePauseChanged(IsPaused));
        events.Publish(QueueItemsChanged.All);
        schedule.Wake();
    }

    public void Dispose()
    {
        Volatile.Read(ref _timed)?.Timer?.Dispose();
        _turn.Dispose();
    }

    private async Task<bool> ChangeAsync(bool isPaused, TimeSpan? length, CancellationToken cancellationToken)
    {
        await _turn.WaitAsync(cancellationToken);
        try
        {
            // An indefinite pause saves the setting first, a timed one the row, so that the queue never resumes in between.
            if (isPaused)
                await SaveAsync(isPaused, cancellationToken);
            var until = length is { } left ? time.WallTime() + left : (DateTimeOffset?)null;
            await database.WriteAsync(
                connection => connection.Execute("UPDATE queue_pause SET until = @until", new { until = until?.ToUnixTimeMilliseconds() }),
                cancellationToken);
            Set(until is { } end ? new TimedPause(time.TimestampOf(end, TimeSpan.Zero, Longest)) : null);
            if (!isPaused)
                await SaveAsync(isPaused, cancellationToken);
        }
        finally
        {
            _turn.Release();
        }

        ReportChange();
        return options.CurrentValue.IsPaused == isPaused;
    }

    private async Task SaveAsync(bool isPaused, CancellationToken cancellationToken)
    {
        // Skip an unchanged setting, because every change makes items retry their providers.
        if (options.CurrentValue.IsPaused != isPaused)
            await settings.SaveAsync(new Dictionary<string, string?> { [Key] = isPaused ? "true" : null }, cancellationToken);
    }

    private void Set(TimedPause? pause)
    {
        // Start the timer after the exchange, because its callback ends only the current pause.
        if (pause is not null)
            pause.Timer = time.CreateTimer(_ => End(pause), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        Interlocked.Exchange(ref _timed, pause)?.Timer?.Dispose();
        if (pause is not null)
        {
            var left = time.GetElapsedTime(time.GetTimestamp(), pause.EndsAt);
            pause.Timer?.Change(left > TimeSpan.Zero ? left : TimeSpan.Zero, Timeout.InfiniteTimeSpan);
        }
    }

    // Keep the row, because it stores the end time. A timer ends the pause, because the wall clock may be set back.
    private void End(TimedPause pause)
    {
        if (Interlocked.CompareExchange(ref _timed, null, pause) != pause)
            return;
        pause.Timer?.Dispose();
        ReportChange();
    }


    /// <param name="endsAt">Timestamp of the end.</param>
    private sealed class TimedPause(long endsAt)
    {
        public long EndsAt => endsAt;

        public ITimer? Timer { get; set; }
    }
}
