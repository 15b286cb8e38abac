using System.Diagnostics;
using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Engine;
using Sluice.Usenet.Nntp;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>The same articles by the same connections, pipelined as deep and thrown away undecoded: what the line would give.</summary>
internal sealed class CeilingRun(RunContext run)
{
    // A server's own depth cannot be seen from outside (TST-37).
    private const int DepthOfServers = 10;

    // As many wanted at a time as the deepest pipeline could take.
    private const int MostWanted = 10;

    // Commands behind one that stalls fall with it, and again with the next.
    private const int MostTries = 5;

    /// <param name="file">What step 7 read.</param>
    /// <param name="end">Offset behind the last byte of it that step 7 read.</param>
    /// <param name="cancellationToken">Gives the run up.</param>
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

    /// <returns>False when no provider has the article, or it comes to its end at no try.</returns>
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
                // What breaks is judged in step 7; here it only costs time.
            }
        }

        return false;
    }
}
