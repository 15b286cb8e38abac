using System.Diagnostics;
using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Cli;
using Sluice.Tools.FullNzbTester.Measure;
using Sluice.Tools.FullNzbTester.Sessions;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>
/// Runs readers that seek at a steady rate, read 64 KiB and disconnect. Each has its own file, so that articles can be attributed to readers.
/// </summary>
internal sealed class StormRun(RunContext run)
{
    private const int SmallRead = 64 << 10;

    private readonly Lock _gate = new();
    private readonly Samples _first = new();
    private readonly Samples _small = new();
    private readonly Samples _articles = new();
    private int _seeks;
    private int _late;

    public async Task RunAsync(StormFlags flags, CancellationToken cancellationToken)
    {
        run.Narrator.Say($"[+] Seek storm: {flags.PerSecond:0.#} seeks per second by {flags.Readers} readers for {flags.Duration.TotalSeconds:0} s");
        await using var session = await run.OpenSessionAsync(SessionUse.Seeks, cancellationToken);
        if (session.Files.Count < flags.Readers)
            throw new UsageException($"--storm: {flags.Readers} readers need as many files, the release has {session.Files.Count}; add --layout=pack --files={flags.Readers}.");

        var files = session.Files.Take(flags.Readers).ToList();
        var started = Stopwatch.GetTimestamp();
        await Task.WhenAll(files.Select((file, reader) => SearchAsync(session, file, reader, flags, started, cancellationToken)));
        var left = await Leftovers.CountAsync(session, run.Findings, cancellationToken);
        Note(files, (await session.CountsAsync(cancellationToken)).Bytes, left);
    }

    private async Task SearchAsync(IContentSession session, TestedFile file, int reader, StormFlags flags, long started, CancellationToken cancellationToken)
    {
        var probe = new SeekProbe(run, session);
        var dice = new Random(unchecked((int)run.Options.Seed + reader));
        var interval = TimeSpan.FromSeconds(flags.Readers / flags.PerSecond);
        var (before, isFirst) = (0L, true);
        for (var due = interval * reader / flags.Readers; due < flags.Duration; due += interval)
        {
            var wait = due - Stopwatch.GetElapsedTime(started);
            if (wait > TimeSpan.Zero)
                await Task.Delay(wait, TimeProvider.System, cancellationToken);

            // Articles started by a seek are counted when its reader returns.
            var after = await AskedOfAsync(file, cancellationToken);
            if (!isFirst)
                AddArticles(after - before);
            (before, isFirst) = (after, false);
            Add(await probe.FreshAsync(file, dice.NextInt64(file.Length), SmallRead, cancellationToken), isLate: -wait > interval);
        }

        await session.SettleAsync(cancellationToken);
        AddArticles(await AskedOfAsync(file, cancellationToken) - before);
    }

    private async Task<long> AskedOfAsync(TestedFile file, CancellationToken cancellationToken)
    {
        if (run.Mock is null || file.NewTruth is null)
            return 0;
        var bodies = (await run.Mock.CountsAsync(cancellationToken)).Total.BodiesByFile;
        return file.PostedFiles.Sum(posted => bodies.GetValueOrDefault(posted));
    }

    private void AddArticles(long count)
    {
        lock (_gate)
            _articles.Add(count);
    }

    private void Add(SeekTiming timing, bool isLate)
    {
        lock (_gate)
        {
            _seeks++;
            _late += isLate ? 1 : 0;
            if (timing.FirstByte is >= 0)
                _first.Add(timing.FirstByte.Value);
            if (timing.Last is >= 0)
                _small.Add(timing.Last.Value);
        }
    }

    private void Note(List<TestedFile> files, long wireBytes, long left)
    {
        // Each open may cost its landing segment in addition to the bytes read.
        var encoded = files.Sum(file => file.EncodedBytes(0, file.Length)) / (double)files.Sum(file => file.Length);
        var allowed = _seeks * (files.Max(file => file.Map[0].Length) + SmallRead) * encoded;
        var metrics = run.Metrics;
        metrics["storm.seeks"] = _seeks;
        metrics["storm.late"] = _late;
        metrics["storm.first_byte_ms_p50"] = _first.Median;
        metrics["storm.first_byte_ms_p95"] = _first.Percentile(95);
        metrics["storm.64k_ms_p50"] = _small.Median;
        metrics["storm.64k_ms_p95"] = _small.Percentile(95);
        metrics["storm.articles_median"] = run.Mock is null ? null : _articles.Median;
        metrics["storm.articles_worst"] = run.Mock is null ? null : _articles.Max;
        metrics["storm.bytes_ratio"] = allowed > 0 && wireBytes > 0 ? wireBytes / allowed : null;
        metrics["storm.left"] = left;
        run.Narrator.Say($"    {_seeks} seeks ({_late} late): first byte p50 {_first.Median:0.0} ms, p95 {_first.Percentile(95):0.0} ms; articles per seek median {_articles.Median:0.#}, worst {_articles.Max:0}; bytes {metrics["storm.bytes_ratio"]:0.00} x (read + one segment per open); {left} left under way");
    }
}
