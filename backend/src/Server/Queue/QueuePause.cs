using Dapper;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Events;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue;

/// <summary>
/// Whether the queue as a whole is paused: no item begins then but those of <see cref="QueuePriority.Force"/>, work under way goes on,
/// and playback feels nothing of it. A pause without an end is the setting <c>queue.paused</c>, a timed one has a row of its own; both
/// are kept over restarts.
/// </summary>
/// <remarks>Thread-safe; changes follow one another.</remarks>
internal sealed class QueuePause(
    SluiceDatabase database,
    SettingsStore settings,
    IOptionsMonitor<QueueOptions> options,
    QueueSchedule schedule,
    EventFeed events,
    TimeProvider time) : IWorker, IDisposable
{
    /// <summary>The longest timed pause: no timer takes more than 49 days.</summary>
    public static readonly TimeSpan Longest = TimeSpan.FromDays(30);

    private const string Key = "queue.paused";

    // One change at a time: the row and the setting.
    private readonly SemaphoreSlim _turn = new(1);

    // Null where there is no timed pause. Written by a change in its turn and by the timer of the pause that stands here.
    private TimedPause? _timed;

    /// <inheritdoc/>
    public string Name => "the pause of the queue";

    /// <summary>Whether no item may begin but those of <see cref="QueuePriority.Force"/>.</summary>
    public bool IsPaused => options.CurrentValue.IsPaused || Volatile.Read(ref _timed) is not null;

    /// <summary>How long a timed pause still lasts; null where the queue is not paused, or without an end.</summary>
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

    /// <summary>Takes up the timed pause that the last run has left.</summary>
    public async Task PrepareAsync(CancellationToken cancellationToken)
    {
        // Without a database nothing is imported.
        if (!database.IsOpen)
            return;
        var until = await database.ReadAsync(connection => connection.ExecuteScalar<long?>("SELECT until FROM queue_pause"), cancellationToken);
        if (until is not { } stored)
            return;
        var end = time.TimestampOf(StoredTime.Read(stored), TimeSpan.Zero, Longest);
        if (time.GetElapsedTime(time.GetTimestamp(), end) > TimeSpan.Zero)
            Set(new TimedPause(end));
    }

    /// <summary>Pauses the queue; a pause before is replaced.</summary>
    /// <param name="length">How long, <see cref="Longest"/> at most; null: until it is resumed.</param>
    /// <param name="cancellationToken">Counts until the change begins.</param>
    /// <returns>False where the environment decides about the setting.</returns>
    public Task<bool> PauseAsync(TimeSpan? length, CancellationToken cancellationToken) =>
        length is { } asked ? ChangeAsync(false, asked < Longest ? asked : Longest, cancellationToken) : ChangeAsync(true, null, cancellationToken);

    /// <summary>Lets items begin again.</summary>
    /// <returns>False where the environment decides about the setting.</returns>
    public Task<bool> ResumeAsync(CancellationToken cancellationToken) => ChangeAsync(false, null, cancellationToken);

    /// <summary>Tells that a pause has begun or ended, or the settings may say so: items may begin now, or no longer.</summary>
    public void Tell()
    {
        events.Publish(new QueuePauseChanged(IsPaused));
        events.Publish(QueueItemsChanged.All);
        schedule.Wake();
    }

    /// <inheritdoc/>
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
            // In this order the queue is paused at each moment between two pauses.
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

        Tell();
        return options.CurrentValue.IsPaused == isPaused;
    }

    private async Task SaveAsync(bool isPaused, CancellationToken cancellationToken)
    {
        // Every change of a setting ends the waits for a provider.
        if (options.CurrentValue.IsPaused != isPaused)
            await settings.SaveAsync(new Dictionary<string, string?> { [Key] = isPaused ? "true" : null }, cancellationToken);
    }

    private void Set(TimedPause? pause)
    {
        // The timer begins when its pause stands: a pause that is nearly over would find that another one does.
        if (pause is not null)
            pause.Timer = time.CreateTimer(_ => End(pause), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        Interlocked.Exchange(ref _timed, pause)?.Timer?.Dispose();
        if (pause is not null)
        {
            var left = time.GetElapsedTime(time.GetTimestamp(), pause.EndsAt);
            pause.Timer?.Change(left > TimeSpan.Zero ? left : TimeSpan.Zero, Timeout.InfiniteTimeSpan);
        }
    }

    // The row says when the pause ends, so it needs no change. The end is an event of the timer, because the clock may be set back.
    private void End(TimedPause pause)
    {
        if (Interlocked.CompareExchange(ref _timed, null, pause) != pause)
            return;
        pause.Timer?.Dispose();
        Tell();
    }


    /// <param name="endsAt">Timestamp of its end.</param>
    private sealed class TimedPause(long endsAt)
    {
        public long EndsAt => endsAt;

        public ITimer? Timer { get; set; }
    }
}
