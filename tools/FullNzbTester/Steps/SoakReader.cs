using System.Diagnostics;
using System.Globalization;
using System.Net;
using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Server;
using Sluice.Tools.FullNzbTester.Sessions;
using Sluice.Usenet.Streams;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>A soak reader: seeks, reads for a while at its rate, and sometimes disconnects midway.</summary>
/// <param name="index">Number of the reader. Together with the seed it decides all actions, so that a run can be repeated.</param>
/// <param name="bytesPerSecond">Its rate; 0 for unlimited.</param>
internal sealed class SoakReader(RunContext run, IContentSession session, int index, long bytesPerSecond)
{
    private const int Chunk = 64 << 10;
    private const int ShortestRead = 64 << 10;
    private const int MostDoublings = 8;
    private const int OneInCancels = 6;

    /// <summary>A longer read counts as hung, whatever the providers' faults are.</summary>
    private static readonly TimeSpan Hangs = TimeSpan.FromSeconds(60);

    private readonly Random _dice = new(unchecked(((int)run.Options.Seed * 1009) + index));
    private readonly byte[] _buffer = new byte[Chunk];

    /// <summary>Reads that completed.</summary>
    public int Whole { get; private set; }

    /// <summary>Reads that the reader canceled.</summary>
    public int GivenUp { get; private set; }

    /// <summary>Reads ended by an error.</summary>
    public int Broken { get; private set; }

    /// <summary>Reads rejected before the first byte, because of too many reads or a provider timeout.</summary>
    public int Refused { get; private set; }

    public long Bytes { get; private set; }

    public TimeSpan SlowestRead { get; private set; }

    public async Task RunAsync(CancellationToken ending)
    {
        // Yields to the caller, otherwise readers would start one after the other.
        await Task.Yield();
        while (!ending.IsCancellationRequested)
        {
            var file = session.Files[_dice.Next(session.Files.Count)];
            var position = _dice.NextInt64(file.Length);
            var length = Math.Min(file.Length - position, (long)ShortestRead << _dice.Next(MostDoublings + 1));
            TimeSpan? leaves = _dice.Next(OneInCancels) == 0 ? TimeSpan.FromMilliseconds(_dice.Next(1, 400)) : null;
            await ReadAsync(file, position, position + length, leaves, ending);
        }
    }

    private async Task ReadAsync(TestedFile file, long position, long end, TimeSpan? leaves, CancellationToken ending)
    {
        using var leaving = CancellationTokenSource.CreateLinkedTokenSource(ending);
        if (leaves is { } after)
            leaving.CancelAfter(after);
        try
        {
            await using var reader = run.Open(session, file, position, end);
            try
            {
                await ReadToEndAsync(reader, end, leaving.Token);
                Whole++;
            }
            catch (IOException error)
            {
                reader.GiveUp();
                if (error is UnansweredException { Status: HttpStatusCode.ServiceUnavailable })
                    Refused++;
                else
                    Broken++;
            }
            catch (TimeoutException)
            {
                reader.GiveUp();
                Broken++;
            }
            catch (StreamLimitException) when (!leaving.IsCancellationRequested)
            {
                reader.GiveUp();
                Refused++;
            }
        }
        catch (OperationCanceledException) when (leaving.IsCancellationRequested)
        {
            GivenUp++;
        }
    }

    private async Task ReadToEndAsync(CheckedReader reader, long end, CancellationToken leaving)
    {
        var clock = Stopwatch.GetTimestamp();
        while (reader.Position < end)
        {
            leaving.ThrowIfCancellationRequested();
            var read = await ReadOnceAsync(reader, (int)Math.Min(Chunk, end - reader.Position), leaving);
            Bytes += read;
            if (read == 0)
                throw new EndOfStreamException(string.Create(CultureInfo.InvariantCulture, $"The stream ended at {reader.Position} of {end}."));

            clock += bytesPerSecond > 0 ? (long)(read / (double)bytesPerSecond * Stopwatch.Frequency) : 0;
            var left = bytesPerSecond > 0 ? Stopwatch.GetElapsedTime(Stopwatch.GetTimestamp(), clock) : TimeSpan.Zero;
            if (left > TimeSpan.Zero)
                await Task.Delay(left, TimeProvider.System, leaving);
        }
    }

    private async Task<int> ReadOnceAsync(CheckedReader reader, int most, CancellationToken leaving)
    {
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(leaving);
        patience.CancelAfter(Hangs);
        var wanted = Stopwatch.GetTimestamp();
        try
        {
            var read = await reader.ReadAsync(_buffer.AsMemory(0, most), patience.Token);
            reader.Took(_buffer.AsSpan(0, read));
            return read;
        }
        catch (OperationCanceledException error) when (error is not StreamLimitException && !leaving.IsCancellationRequested)
        {
            run.Findings.Fail($"nothing came for {Hangs.TotalSeconds:0} s at {reader.Position}");
            throw new TimeoutException("The read hangs.");
        }
        finally
        {
            var waited = Stopwatch.GetElapsedTime(wanted);
            SlowestRead = waited > SlowestRead ? waited : SlowestRead;
        }
    }
}
