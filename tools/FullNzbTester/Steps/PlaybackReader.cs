using System.Diagnostics;
using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Measure;
using Sluice.Tools.FullNzbTester.Sessions;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>A player: reads 64 KiB when due at its rate, and restarts at the end of the file unless it plays once.</summary>
/// <remarks>It has no buffer, so that a wait of more than a quarter of a second counts as a stall.</remarks>
internal sealed class PlaybackReader(RunContext run, IContentSession session, TestedFile file, long bytesPerSecond, bool once)
{
    private const int Chunk = 64 << 10;
    private static readonly TimeSpan Noticed = TimeSpan.FromMilliseconds(250);

    private readonly RateWindows _windows = new(1);
    private readonly List<Stall> _stalls = [];

    public long Bytes { get; private set; }

    /// <summary>ms until the first byte; null if none came.</summary>
    public double? StartDelay { get; private set; }

    /// <summary>Reads that took longer than a viewer tolerates.</summary>
    public IReadOnlyList<Stall> Stalls => _stalls;

    /// <summary>Longest read in ms, except the first; 0 if there was none.</summary>
    public double LongestGap { get; private set; }

    public bool WasCutOff { get; private set; }

    /// <summary>5th percentile of the rates of whole seconds, in MB/s.</summary>
    public double? P05 => _windows.P05();

    /// <summary>Highest offset (exclusive) read so far.</summary>
    public long Reached { get; private set; }

    public async Task PlayAsync(TimeSpan duration, CancellationToken cancellationToken)
    {
        // Yields to the caller, otherwise readers would start one after the other.
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
            // The playback time is over.
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
                // Buffered bytes are read without a check of the token, so a fully buffered file would never end.
                cancellationToken.ThrowIfCancellationRequested();
                var wanted = Stopwatch.GetTimestamp();
                var read = await reader.FillAsync(buffer, cancellationToken);
                if (read == 0)
                    return;
                Note(read, wanted, started);
                Reached = Math.Max(Reached, reader.Position);

                // Playback starts with the first byte. An earlier clock would make reads faster than the film plays.
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

    /// <summary>Returns by how much a stall shifts the clock, because the film resumes at the same position.</summary>
    private static long Stood(long wanted) => Stopwatch.GetElapsedTime(wanted) > Noticed ? Stopwatch.GetTimestamp() - wanted : 0;

    /// <summary>Waits until the bytes just read have been played.</summary>
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
/// <param name="At">Start of the read, in seconds since playback began.</param>
internal readonly record struct Stall(double At, double Milliseconds);
