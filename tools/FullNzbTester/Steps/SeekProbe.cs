using System.Diagnostics;
using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Sessions;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>Times of one seek in ms: −1 for a timeout, null where the read met a hole or was not made.</summary>
/// <param name="FirstByte">Until the first byte.</param>
/// <param name="Last">Until the last one that was asked for.</param>
/// <param name="WasHeld">Whether the bytes were there or under way before, so that the seek says nothing about the line.</param>
internal readonly record struct SeekTiming(double? FirstByte, double? Last, bool WasHeld = false);

/// <summary>Seeks and times the first bytes.</summary>
internal sealed class SeekProbe(RunContext run, IContentSession session)
{
    /// <summary>The read by which the first byte is measured, as the ancestor did.</summary>
    public const int FirstRead = 1024;

    /// <summary>What a player reads before it shows a picture, and the ancestor's full seek.</summary>
    public const int FullRead = 8 << 20;

    private const double TimedOut = -1;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private readonly byte[] _buffer = new byte[256 << 10];

    /// <summary>Opens a stream at a position, reads, and disposes it.</summary>
    /// <param name="file">The file.</param>
    /// <param name="position">Where.</param>
    /// <param name="bytes">How many bytes until it counts as complete, or to the end of the file.</param>
    /// <param name="cancellationToken">Gives the run up.</param>
    public async Task<SeekTiming> FreshAsync(TestedFile file, long position, int bytes, CancellationToken cancellationToken)
    {
        var started = Stopwatch.GetTimestamp();
        await using var reader = run.Open(session, file, position);
        return await ReadAsync(reader, started, bytes, cancellationToken);
    }

    /// <summary>Seeks on an open stream and reads.</summary>
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
