using System.Diagnostics;
using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Cli;
using Sluice.Tools.FullNzbTester.Sessions;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>Runs several players at once, each on its own file or all on one.</summary>
internal sealed class PlaybackRun(RunContext run)
{
    private const int StallsTold = 20;

    public async Task RunAsync(PlaybackFlags flags, CancellationToken cancellationToken)
    {
        run.Narrator.Say($"[+] Playback: {flags.Readers} readers at {(flags.BytesPerSecond == 0 ? "full speed" : $"{flags.BytesPerSecond * 8 / 1e6:0.#} Mbit/s")} for {flags.Duration.TotalSeconds:0} s");
        await using var session = await run.OpenSessionAsync(SessionUse.Playback, cancellationToken);
        var files = Pick(session.Files, flags);
        var readers = files.Select(file => new PlaybackReader(run, session, file, flags.BytesPerSecond, flags.Once)).ToList();
        var imports = run.Subject.PrepareImports(run, flags.Imports);
        var started = Stopwatch.GetTimestamp();
        var importing = ImportAsync(imports, flags.Imports, cancellationToken);
        await Task.WhenAll(readers.Select(reader => reader.PlayAsync(flags.Duration, cancellationToken)));
        var took = Stopwatch.GetElapsedTime(started);
        Note(readers, files, took, (await session.CountsAsync(cancellationToken)).Bytes);
        await importing;
    }

    private async Task ImportAsync(Func<CancellationToken, Task> imports, int count, CancellationToken cancellationToken)
    {
        if (count == 0)
            return;
        var started = Stopwatch.GetTimestamp();
        await imports(cancellationToken);
        run.Metrics["playback.imports_ms"] = Stopwatch.GetElapsedTime(started).TotalMilliseconds;
        run.Narrator.Say($"    {count} releases were added and in the history after {run.Metrics["playback.imports_ms"]:0} ms");
    }

    private static List<TestedFile> Pick(IReadOnlyList<TestedFile> files, PlaybackFlags flags)
    {
        if (flags.SameFile)
            return [.. Enumerable.Repeat(ReleaseImport.Pick(files), flags.Readers)];
        if (files.Count < flags.Readers)
            throw new UsageException($"--readers: the release has only {files.Count} files; add --same-file, or --files with the mock.");
        return [.. files.Take(flags.Readers)];
    }

    private void Note(List<PlaybackReader> readers, List<TestedFile> files, TimeSpan took, long wireBytes)
    {
        var metrics = run.Metrics;
        var (fastest, slowest, mean) = (readers.Max(reader => reader.Bytes), readers.Min(reader => reader.Bytes), readers.Average(reader => reader.Bytes));
        var distinct = readers.Zip(files).GroupBy(pair => pair.Second).Sum(group => group.Key.EncodedBytes(0, group.Max(pair => pair.First.Reached)));
        metrics["playback.start_delay_ms"] = readers.Max(reader => reader.StartDelay);
        metrics["playback.stalls"] = readers.Sum(reader => reader.Stalls.Count);
        metrics["playback.stall_ms"] = readers.Sum(reader => reader.Stalls.Sum(stall => stall.Milliseconds));
        metrics["playback.worst_stall_ms"] = readers.Max(reader => reader.Stalls.DefaultIfEmpty().Max(stall => stall.Milliseconds));
        metrics["playback.longest_gap_ms"] = readers.Max(reader => reader.LongestGap);
        metrics["playback.p05_mb_s"] = readers.Min(reader => reader.P05);
        metrics["playback.mb_s"] = readers.Sum(reader => reader.Bytes) / 1e6 / took.TotalSeconds;
        metrics["playback.share_spread"] = mean > 0 ? (fastest - slowest) / mean : null;
        metrics["playback.cut_off"] = readers.Count(reader => reader.WasCutOff);
        metrics["playback.provider_bytes_ratio"] = distinct > 0 ? wireBytes / (double)distinct : null;
        run.Narrator.Say($"    {metrics["playback.mb_s"]:0.0} MB/s in all, start {metrics["playback.start_delay_ms"]:0} ms, {metrics["playback.stalls"]} stalls, worst {metrics["playback.worst_stall_ms"]:0} ms, longest gap {metrics["playback.longest_gap_ms"]:0} ms, p05 {metrics["playback.p05_mb_s"]:0.00} MB/s, spread {metrics["playback.share_spread"]:0.00}, {metrics["playback.cut_off"]} cut off, provider bytes {metrics["playback.provider_bytes_ratio"]:0.00} x");
        foreach (var (stall, number) in readers.SelectMany((reader, index) => reader.Stalls.Select(stall => (stall, index + 1))).OrderBy(each => each.stall.At).Take(StallsTold))
            run.Narrator.Say($"    stall of {stall.Milliseconds:0} ms at {stall.At:0.0} s, reader {number}");
    }
}
