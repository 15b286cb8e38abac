using System.Diagnostics;
using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Measure;
using Sluice.Tools.FullNzbTester.Sessions;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>Step 7: a cold read from the start, then the last KiB of the file on a new stream.</summary>
internal sealed class SequentialStep(RunContext run)
{
    private const int BufferSize = 256 << 10;
    private const int TailBytes = 1024;
    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(120);

    private readonly Samples _reads = new();
    private readonly RateWindows _seconds = new(1);
    private readonly RateWindows _quarters = new(0.25);
    private readonly byte[] _buffer = new byte[BufferSize];
    private long _delivered;
    private int _synchronous;
    private TimeSpan _comparing;

    public TestedFile? File { get; private set; }

    /// <summary>End offset (exclusive) of the bytes read.</summary>
    public long End { get; private set; }

    public async Task<string?> RunAsync(CancellationToken cancellationToken)
    {
        await using var session = await run.OpenSessionAsync(SessionUse.Sequential, cancellationToken);
        var file = File = ReleaseImport.Pick(session.Files);
        var cost = run.Subject.Cost();
        var started = Stopwatch.GetTimestamp();
        await ReadAsync(session, file, started, cancellationToken);
        var took = Stopwatch.GetElapsedTime(started);
        cost = run.Subject.Cost().Since(cost);
        Note(session, took, cost);
        Note(session, file, (await session.CountsAsync(cancellationToken)).Bytes);

        await ReadTailAsync(session, file, cancellationToken);
        return null;
    }

    private async Task ReadAsync(IContentSession session, TestedFile file, long started, CancellationToken cancellationToken)
    {
        var stop = Math.Min(file.Length, run.Options.Limit);
        long? position = 0;
        while (position < stop && Stopwatch.GetElapsedTime(started) < Longest)
        {
            await using var reader = run.Open(session, file, position.Value, stop);
            try
            {
                while (reader.Position < stop && Stopwatch.GetElapsedTime(started) < Longest)
                {
                    if (!await ReadOnceAsync(reader, started, cancellationToken))
                        throw new EndOfStreamException($"The stream ended at {reader.Position} of {stop}.");
                    End = reader.Position;
                }

                return;
            }
            catch (IOException error)
            {
                // After a hole, a new read must deliver correct bytes again.
                position = await reader.AbortAsync(error, run.MayMeetHoles, cancellationToken);
            }
        }
    }

    /// <returns>False at the end of the file.</returns>
    private async Task<bool> ReadOnceAsync(CheckedReader reader, long started, CancellationToken cancellationToken)
    {
        var before = Stopwatch.GetTimestamp();
        var reading = reader.ReadAsync(_buffer, cancellationToken);
        var isSynchronous = reading.IsCompleted;
        var read = await reading;
        var after = Stopwatch.GetTimestamp();

        _reads.Add(Stopwatch.GetElapsedTime(before, after).TotalMilliseconds);
        _synchronous += isSynchronous ? 1 : 0;
        _delivered += read;
        var at = Stopwatch.GetElapsedTime(started, after).TotalSeconds;
        _seconds.Add(at, read);
        _quarters.Add(at, read);
        reader.Took(_buffer.AsSpan(0, read));
        _comparing += Stopwatch.GetElapsedTime(after);
        return read > 0;
    }

    private async Task ReadTailAsync(IContentSession session, TestedFile file, CancellationToken cancellationToken)
    {
        await using var reader = run.Open(session, file, Math.Max(0, file.Length - TailBytes));
        try
        {
            var read = await reader.FillAsync(_buffer.AsMemory(0, TailBytes + 1), cancellationToken);
            if (read != Math.Min(TailBytes, file.Length))
                run.Findings.Fail($"the last KiB of {file.Name} has {read} bytes");
        }
        catch (IOException error)
        {
            await reader.AbortAsync(error, run.MayMeetHoles, cancellationToken);
        }
    }

    private void Note(IContentSession session, TimeSpan took, ProcessCost cost)
    {
        const double GiB = 1 << 30;
        var metrics = run.Metrics;
        metrics["seq_mb_s"] = _delivered / 1e6 / took.TotalSeconds;
        metrics["seq_mib_s"] = _delivered / (double)(1 << 20) / took.TotalSeconds;
        metrics["seq_p05_mb_s"] = _seconds.P05();
        metrics["seq_p05_250ms"] = _quarters.P05();
        metrics["cpu_s_per_gib"] = cost.CpuSeconds / (_delivered / GiB);
        metrics["compare_s_per_gib"] = _comparing.TotalSeconds / (_delivered / GiB);
        metrics["alloc_bytes_per_mb"] = cost.Allocated / (_delivered / 1e6);
        metrics["gc_pause_ms"] = cost.PausedMilliseconds;
        metrics["reads.count"] = _reads.Count;
        metrics["reads.mean_ms"] = _reads.Mean;
        metrics["reads.median_ms"] = _reads.Median;
        metrics["reads.p95_ms"] = _reads.Percentile(95);
        metrics["reads.p99_ms"] = _reads.Percentile(99);
        metrics["reads.min_ms"] = _reads.Min;
        metrics["reads.max_ms"] = _reads.Max;
        metrics["reads.sync_share"] = _reads.Count == 0 || !session.IsInProcess ? null : _synchronous / (double)_reads.Count;
        run.Windows = _seconds.Rates;
        run.Narrator.Say($"    {_delivered:n0} bytes in {took.TotalSeconds:0.00} s: {metrics["seq_mb_s"]:0.00} MB/s ({metrics["seq_mib_s"]:0.00} MiB/s)");
        run.Narrator.Say($"    CPU {metrics["cpu_s_per_gib"]:0.00} s/GiB ({cost.CpuSeconds / (_delivered / 1e9):0.00} s/GB){(session.IsInProcess ? ", of which comparing every byte takes" : " of the server; comparing every byte takes this tool")} {metrics["compare_s_per_gib"]:0.00}");
    }

    private void Note(IContentSession session, TestedFile file, long wireBytes)
    {
        var needed = file.EncodedBytes(0, End);
        session.Note(run.Metrics);
        run.Metrics["wire_bytes"] = wireBytes;
        run.Metrics["amplification"] = needed > 0 ? wireBytes / (double)needed : null;
    }
}
