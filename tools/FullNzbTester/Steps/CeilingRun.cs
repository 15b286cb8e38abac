using System.Diagnostics;
using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Engine;
using Sluice.Usenet.Nntp;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>Measures the throughput of the line: fetches the same articles at the same depth, without decoding.</summary>
internal sealed class CeilingRun(RunContext run)
{
    // The depth of a server is not visible from outside (TST-37), so this value is assumed.
    private const int DepthOfServers = 10;

    // Segments requested at once per connection, so that the deepest pipeline stays full.
    private const int MostWanted = 10;

    // Commands behind a stalled one fail with it, and may fail again behind the next.
    private const int MostTries = 5;

    /// <param name="file">The file that step 7 read.</param>
    /// <param name="end">End offset (exclusive) of the bytes that step 7 read.</param>
    public async Task RunAsync(TestedFile file, long end, CancellationToken cancellationToken)
    {
        if (end <= 0 || !file.KnowsArticles)
            return;
        await using var engine = new EngineSubject(run.Options, run.Providers);
        await using var session = engine.NewSession([file], run.Options.Server is null ? null : DepthOfServers);
        var last = file.Map.Locate(end - 1);
        var fetchers = Math.Min(last.Index + 1, MostWanted * run.Providers.Sum(provider => provider.MaxConnections));
        var next = -1;
        long fetched = 0;
        var started = Stopwatch.GetTimestamp();
        await Task.WhenAll(Enumerable.Range(0, fetchers).Select(_ => FetchAsync()));
        var seconds = Stopwatch.GetElapsedTime(started).TotalSeconds;

        var ceiling = fetched / 1e6 / seconds;
        run.Metrics["ceiling_mb_s"] = ceiling;
        run.Metrics["seq_ratio"] = run.Metrics["seq_mb_s"] / ceiling;
        run.Narrator.Say($"    ceiling {ceiling:0.00} MB/s: {last.Index + 1} articles thrown away; the stream reached {run.Metrics["seq_ratio"]:0.00} of it");

        async Task FetchAsync()
        {
            var sink = new TerminatorSink();
            while (Interlocked.Increment(ref next) is var index && index <= last.Index)
            {
                var article = file.Articles[index];
                if (!article.Id.IsEmpty && await TryFetchAsync(session, new ArticleRequest(article.Id, OperationLane.Playback, ExpectedBytes: article.EncodedSize), sink, cancellationToken))
                    Interlocked.Add(ref fetched, file.Map[index].Length);
            }
        }
    }

    /// <returns>False if no provider has the article, or if no attempt completed.</returns>
    private static async Task<bool> TryFetchAsync(EngineSession session, ArticleRequest request, TerminatorSink sink, CancellationToken cancellationToken)
    {
        for (var tries = 1; tries <= MostTries; tries++)
        {
            try
            {
                return (await session.Source.FetchAsync(request, sink, cancellationToken)).IsFound;
            }
            catch (NntpException error) when (error.IsTransient)
            {
                // Step 7 judges errors. Here they only cost time.
            }
        }

        return false;
    }
}
