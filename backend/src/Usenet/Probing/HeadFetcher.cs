using System.Collections.Concurrent;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Probing;

/// <summary>
/// Fetches the beginnings of articles: no more at once than allowed, no further than needed, from the next provider where a
/// copy is bad, and by the ids of duplicates where the first one is gone.
/// </summary>
/// <remarks>Thread-safe. Serves the probe of one release and counts what it cost.</remarks>
internal sealed class HeadFetcher(IArticleSource source, ProbeOptions options) : IDisposable
{
    private const int RoundsPerArticle = 2;

    private readonly SemaphoreSlim _slots = new(options.Concurrency, options.Concurrency);
    private readonly ConcurrentBag<HeadSink> _sinks = [];
    private int _asked;
    private int _fetches;
    private int _misses;
    private int _corrupt;
    private long _bytes;

    /// <summary>The costs so far, around the files that were found.</summary>
    public ProbeReport Report(IReadOnlyList<FileHead> files) => new(
        files, Volatile.Read(ref _asked), Volatile.Read(ref _fetches), Volatile.Read(ref _misses), Volatile.Read(ref _corrupt), Interlocked.Read(ref _bytes));

    public void Dispose() => _slots.Dispose();

    /// <summary>Fetches a segment by its id, or by those of duplicates.</summary>
    /// <param name="segment">Its ids.</param>
    /// <param name="demand">What is wanted of it.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="NntpException">Nothing can be said, because no provider could be asked to the end.</exception>
    public async Task<HeadAnswer> FetchAsync(SegmentIds segment, HeadDemand demand, CancellationToken cancellationToken)
    {
        if (demand is { Whole: false, IsWish: false })
            Interlocked.Increment(ref _asked);
        if (segment.Primary.IsEmpty)
            return HeadAnswer.NeverPosted;

        await _slots.WaitAsync(cancellationToken);
        try
        {
            var answer = await FetchAsync(segment.Primary, demand, cancellationToken);
            for (var i = 0; i < segment.Fallbacks.Count && answer.Head is null; i++)
            {
                var other = await FetchAsync(segment.Fallbacks[i], demand, cancellationToken);
                if (other.Head is not null || answer.State == HeadState.Missing)
                    answer = other;
            }

            if (answer.State == HeadState.Missing && demand is { Whole: false, IsWish: false })
                Interlocked.Increment(ref _misses);
            return answer;
        }
        finally
        {
            _slots.Release();
        }
    }

    // Every provider that delivers something bad is asked once more, after all the others.
    private async Task<HeadAnswer> FetchAsync(MessageId id, HeadDemand demand, CancellationToken cancellationToken)
    {
        var isCorrupt = false;
        for (var round = 0; round < (demand.IsWish ? 1 : RoundsPerArticle); round++)
        {
            var excluded = demand.Beside;
            while (excluded.Count < source.ProviderCount)
            {
                var request = new ArticleRequest(id, options.Lane, ExpectedBytes: demand.ExpectedBytes, Excluded: excluded);
                var (head, missing) = await FetchOnceAsync(request, demand, cancellationToken);
                if (head is null && !isCorrupt)
                    return new HeadAnswer(null, HeadState.Missing, missing);
                if (head is not null && demand.IsMetBy(head))
                    return new HeadAnswer(head, HeadState.Found, null);
                if (head is null || excluded.Contains(head.Provider))
                    break;

                isCorrupt = true;
                Interlocked.Increment(ref _corrupt);
                excluded = excluded.With(head.Provider);
            }
        }

        return new HeadAnswer(null, HeadState.Corrupt, null);
    }

    private async Task<(ArticleHead? Head, ArticleMissing? Missing)> FetchOnceAsync(ArticleRequest request, HeadDemand demand, CancellationToken cancellationToken)
    {
        var sink = _sinks.TryTake(out var used) ? used : new HeadSink(options.HeadBytes);
        sink.Reset(demand.Whole);
        Interlocked.Increment(ref _fetches);
        using var giveUp = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var fetch = source.FetchAsync(request, sink, giveUp.Token).AsTask();
        try
        {
            // The rest of the article is not needed once its beginning is there; its trailer is worth a little patience.
            if (await Task.WhenAny(fetch, sink.Enough) != fetch && !await ComesToItsEndAsync(fetch, await sink.Enough, demand))
                await giveUp.CancelAsync();
            var reply = await fetch;
            return reply.IsFound
                ? (sink.Whole ?? throw new NntpException(NntpFault.MalformedReply, "A body ended without its terminating line."), null)
                : (null, reply.Missing);
        }
        catch (Exception broken) when (broken is NntpException or OperationCanceledException
            && sink.Enough.IsCompletedSuccessfully && !cancellationToken.IsCancellationRequested)
        {
            // Given up, or broken in what is not needed.
            return (await sink.Enough, null);
        }
        finally
        {
            Interlocked.Add(ref _bytes, sink.RawBytes);
            _sinks.Add(sink);
        }
    }

    /// <summary>Lets an article whose beginning is there go on to its trailer, where that is wanted.</summary>
    /// <returns>False when it is not, or does not come in time.</returns>
    private async Task<bool> ComesToItsEndAsync(Task fetch, ArticleHead head, HeadDemand demand)
    {
        if (options.TrailerPatience == TimeSpan.Zero || (!demand.UntilEnd && !head.EndsItsFile))
            return false;
        try
        {
            await fetch.WaitAsync(options.TrailerPatience, options.Time);
            return true;
        }
        catch (TimeoutException)
        {
            return false;
        }
    }
}
