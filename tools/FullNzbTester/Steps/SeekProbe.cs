using System.Diagnostics;
using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Sessions;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>Times of one seek in ms: −1 for a timeout, null if the read met a hole or was not made.</summary>
/// <param name="WasHeld">Whether the bytes were already buffered or in transit, so that the seek does not measure the line.</param>
internal readonly record struct SeekTiming(double? FirstByte, double? Last, bool WasHeld = false);

internal sealed class SeekProbe(RunContext run, IContentSession session)
{
    /// <summary>Read size for the first byte, the same as in the ancestor tool.</summary>
    public const int FirstRead = 1024;

    /// <summary>Bytes that a player reads before it shows a picture; the full seek of the ancestor tool.</summary>
    public const int FullRead = 8 << 20;

    private const double TimedOut = -1;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private readonly byte[] _buffer = new byte[256 << 10];

    /// <summary>Opens a stream at a position, reads, and disposes it.</summary>
    /// <param name="bytes">Bytes until the seek is complete, limited by the end of the file.</param>
    public async Task<SeekTiming> FreshAsync(TestedFile file, long position, int bytes, CancellationToken cancellationToken)
    {
        var started = Stopwatch.GetTimestamp();
        await using var reader = run.Open(session, file, position);
        return await ReadAsync(reader, started, bytes, cancellationToken);
    }

    public async Task<SeekTiming> OnOpenAsync(CheckedReader reader, long position, int bytes, CancellationToken cancellationToken)
    {
        var started = Stopwatch.GetTimestamp();
        reader.Seek(position);
        return await ReadAsync(reader, started, bytes, cancellationToken);
    }

    private async Task<SeekTiming> ReadAsync(CheckedReader reader, long started, int bytes, CancellationToken cancellationToken)
    {
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        patience.CancelAfter(Patience);
        double? first = null;
        var wasHeld = false;
        try
        {
            var total = 0;
            while (total < bytes)
            {
                var want = first is null ? FirstRead : Math.Min(_buffer.Length, bytes - total);
                var reading = reader.ReadAsync(_buffer.AsMemory(0, want), patience.Token);
                wasHeld |= first is null && reading.IsCompleted;
                var read = await reading;
                if (read > 0 && first is null)
                {
                    first = Stopwatch.GetElapsedTime(started).TotalMilliseconds;
                    wasHeld |= first < run.SoonestAnswer.TotalMilliseconds;
                }

                reader.Took(_buffer.AsSpan(0, read));
                if (read == 0)
                    break;
                total += read;
            }

            if (first is null)
                run.Findings.Fail($"the stream ended at once at {reader.Position}");
            return new SeekTiming(first, Stopwatch.GetElapsedTime(started).TotalMilliseconds, wasHeld);
        }
        catch (IOException error)
        {
            await reader.AbortAsync(error, run.MayMeetHoles, cancellationToken);
            return new SeekTiming(first, null);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            run.Findings.Fail($"nothing came for {Patience.TotalSeconds:0} s at {reader.Position}");
            return new SeekTiming(first ?? TimedOut, TimedOut);
        }
    }
}
