using System.Diagnostics;
using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Measure;
using Sluice.Tools.FullNzbTester.Sessions;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>One player: takes 64 KiB whenever they are due at its rate, and begins again at the end of the file unless it is to play it once.</summary>
/// <remarks>It has no buffer of its own, so whatever keeps it waiting for more than a quarter of a second is seen as a stall.</remarks>
internal sealed class PlaybackReader(RunContext run, IContentSession session, TestedFile file, long bytesPerSecond, bool once)
{
    private const int Chunk = 64 << 10;
    private static readonly TimeSpan Noticed = TimeSpan.FromMilliseconds(250);

    private readonly RateWindows _windows = new(1);
    private readonly List<Stall> _stalls = [];

    /// <summary>Bytes taken.</summary>
    public long Bytes { get; private set; }

    /// <summary>ms until the first byte; null when none came.</summary>
    public double? StartDelay { get; private set; }

    /// <summary>The reads that took longer than a viewer overlooks.</summary>
    public IReadOnlyList<Stall> Stalls => _stalls;

    /// <summary>ms of the longest read but the first; 0 when there was none.</summary>
    public double LongestGap { get; private set; }

    /// <summary>Whether an error ended it.</summary>
    public bool WasCutOff { get; private set; }

    /// <summary>5th percentile of the rates of whole seconds, in MB/s.</summary>
    public double? P05 => _windows.P05();

    /// <summary>Offset behind the last byte that was ever read.</summary>
    public long Reached { get; private set; }

    /// <summary>Plays for a time.</summary>
    public async Task PlayAsync(TimeSpan duration, CancellationToken cancellationToken)
    {
        // Not in the caller's turn, or readers would begin one after the other.
        await Task.Yield();
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        ending.CancelAfter(duration);
        var started = Stopwatch.GetTimestamp();
        try
        {
            do
                await PlayOnceAsync(started, ending.Token);
            while (!WasCutOff && !once);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            // The time is over.
        }
    }

    private async Task PlayOnceAsync(long started, CancellationToken cancellationToken)
    {
        var buffer = new byte[Chunk];
        await using var reader = run.Open(session, file, position: 0);
        long? clock = null;
        try
        {
            while (true)
            {
                // Bytes at hand are read whatever the token says, so a file that is held whole would never end.
                cancellationToken.ThrowIfCancellationRequested();
                var wanted = Stopwatch.GetTimestamp();
                var read = await reader.FillAsync(buffer, cancellationToken);
                if (read == 0)
                    return;
                Note(read, wanted, started);
                Reached = Math.Max(Reached, reader.Position);

                // A film begins with its first byte: with a clock from before it would be read faster than it plays.
                if (bytesPerSecond > 0)
                    clock = await PaceAsync(clock is { } film ? film + Stood(wanted) : Stopwatch.GetTimestamp(), read, cancellationToken);
            }
        }
        catch (IOException error)
        {
            await reader.AbortAsync(error, run.MayMeetHoles, cancellationToken);
            WasCutOff = true;
        }
    }

    private void Note(int read, long wanted, long started)
    {
        var waited = Stopwatch.GetElapsedTime(wanted).TotalMilliseconds;
        if (StartDelay is null)
        {
            StartDelay = waited;
        }
        else
        {
            LongestGap = Math.Max(LongestGap, waited);
            if (waited > Noticed.TotalMilliseconds)
                _stalls.Add(new Stall(Stopwatch.GetElapsedTime(started, wanted).TotalSeconds, waited));
        }

        Bytes += read;
        _windows.Add(Stopwatch.GetElapsedTime(started).TotalSeconds, read);
    }

    /// <summary>For how long a stall has stopped the clock: the film goes on where it stood.</summary>
    private static long Stood(long wanted) => Stopwatch.GetElapsedTime(wanted) > Noticed ? Stopwatch.GetTimestamp() - wanted : 0;

    /// <summary>Waits until the bytes just taken have been played.</summary>
    private async Task<long> PaceAsync(long clock, int read, CancellationToken cancellationToken)
    {
        clock += (long)(read / (double)bytesPerSecond * Stopwatch.Frequency);
        var left = Stopwatch.GetElapsedTime(Stopwatch.GetTimestamp(), clock);
        if (left > TimeSpan.Zero)
            await Task.Delay(left, TimeProvider.System, cancellationToken);
        return clock;
    }
}

/// <summary>A read that kept a viewer waiting.</summary>
/// <param name="At">Seconds since the start when it began.</param>
/// <param name="Milliseconds">How long it took.</param>
internal readonly record struct Stall(double At, double Milliseconds);
