using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Loading;

namespace Sluice.Usenet.Probing;

/// <summary>How much of an article to fetch, and which copies are acceptable.</summary>
/// <param name="IsPlausible">Whether a header belongs to this article.</param>
/// <param name="Whole">Whether the whole article is needed, because its length must be counted or its data verified.</param>
/// <param name="ArticleBytes">Encoded size of the article; 0 if unknown.</param>
internal readonly record struct HeadDemand(Func<ArticleHead, bool> IsPlausible, bool Whole, long ArticleBytes)
{
    /// <summary>Whether to wait for the trailer even if the beginning would suffice.</summary>
    public bool UntilEnd { get; init; }

    /// <summary>Providers that have already delivered a copy. Only the other providers are asked, once, for a more complete copy.</summary>
    public ProviderSet TriedProviders { get; init; }

    /// <summary>Whether the article is optional because an acceptable head exists already.</summary>
    public bool IsOptional => UntilEnd || TriedProviders.Count > 0;

    // The NZB may claim any size. Real articles are smaller, and a larger claim would delay other fetches needlessly.
    private const long MaxClaimedBytes = 2 << 20;

    /// <summary>Bytes the connection will transfer: the whole article, because the rest is already in flight once the beginning suffices.</summary>
    public long ExpectedBytes => Math.Clamp(ArticleBytes, 0, MaxClaimedBytes);

    public bool IsMetBy(ArticleHead head) =>
        head.Header is not null
        && (head.IsIntact || (head.Begin is not null && !Whole))
        && (!Whole || head.Length == head.DecodedLength)
        && IsPlausible(head);
}

/// <summary>The result of fetching one head: a head in state Found, or null in state Missing or Corrupt.</summary>
internal readonly record struct HeadAnswer(ArticleHead? Head, HeadState State)
{
    public static HeadAnswer NeverPosted => new(null, HeadState.Missing);
}

/// <summary>Fetches the beginnings of articles with limited concurrency. Tries other providers after a bad copy, and duplicate ids after a miss.</summary>
/// <remarks>Thread-safe. Serves one probe and counts its cost.</remarks>
internal sealed class HeadFetcher(IArticleSource source, ProbeOptions options) : IChargedReader, IDisposable
{
    private const int RoundsPerArticle = 2;

    private readonly SemaphoreSlim _slots = new(options.Concurrency, options.Concurrency);
    private readonly DecoderPool _decoders = new();
    private int _asked;
    private int _fetches;
    private int _misses;
    private int _corrupt;
    private long _bytes;

    /// <summary>Returns the files with the cost so far.</summary>
    public ProbeReport Report(IReadOnlyList<FileHead> files) => new(
        files, Volatile.Read(ref _asked), Volatile.Read(ref _fetches), Volatile.Read(ref _misses), Volatile.Read(ref _corrupt), Interlocked.Read(ref _bytes));

    public ReaderAccount? Account => options.Account;

    public void Dispose() => _slots.Dispose();

    /// <summary>Fetches a segment by its primary id or the ids of duplicates.</summary>
    /// <exception cref="NntpException">No provider gave a final answer.</exception>
    public async Task<HeadAnswer> FetchAsync(SegmentIds segment, HeadDemand demand, CancellationToken cancellationToken)
    {
        if (demand is { Whole: false, IsOptional: false })
            Interlocked.Increment(ref _asked);
        if (segment.Primary.IsEmpty)
            return HeadAnswer.NeverPosted;

        await _slots.WaitAsync(cancellationToken);
        try
        {
            var answer = await FindCopyAsync(segment, demand, cancellationToken);
            if (answer.State == HeadState.Missing && demand is { Whole: false, IsOptional: false })
                Interlocked.Increment(ref _misses);
            return answer;
        }
        finally
        {
            _slots.Release();
        }
    }

    /// <summary>Tries copies until one meets the demand.</summary>
    private async Task<HeadAnswer> FindCopyAsync(SegmentIds segment, HeadDemand demand, CancellationToken cancellationToken)
    {
        var search = new CopySearch(segment, source.ProviderCount, demand.IsOptional ? 1 : RoundsPerArticle, demand.TriedProviders);
        while (search.HasNext())
        {
            // A viewer waits for this fetch, so it must not queue behind other readers that hold all connections.
            var urgency = options.Lane == OperationLane.Playback ? new FetchUrgency(this, isHeadOfLine: true) : null;
            var request = new ArticleRequest(search.Id, options.Lane, urgency, demand.ExpectedBytes, search.Excluded) { SparesBackups = options.SparesBackups };
            var (head, connection) = await FetchOnceAsync(request, demand, cancellationToken);
            if (head is null)
            {
                search.EndRound();
                continue;
            }

            if (demand.IsMetBy(head))
                return new HeadAnswer(head, HeadState.Found);
            if (search.ReportBad(head.Provider))
                Interlocked.Increment(ref _corrupt);
            if (connection is not null)
                options.Garbled?.Invoke(connection);
        }

        return new HeadAnswer(null, search.Loss == ArticleLoss.Missing ? HeadState.Missing : HeadState.Corrupt);
    }

    /// <returns>The article, with its connection if it arrived whole; null if no provider has it.</returns>
    private async Task<(ArticleHead? Head, object? Connection)> FetchOnceAsync(ArticleRequest request, HeadDemand demand, CancellationToken cancellationToken)
    {
        using var sink = new HeadSink(_decoders, options.HeadBytes, demand.Whole);
        Interlocked.Increment(ref _fetches);
        using var giveUp = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var fetch = source.FetchAsync(request, sink, giveUp.Token).AsTask();
        try
        {
            // Cancel the rest of the article once its beginning suffices, but wait a little for a useful trailer.
            if (!options.TakesWholeArticles && await Task.WhenAny(fetch, sink.Enough) != fetch && !await WaitForTrailerAsync(fetch, await sink.Enough, demand))
                await giveUp.CancelAsync();
            var reply = await fetch;
            return reply.IsFound
                ? (sink.Whole ?? throw new NntpException(NntpFault.MalformedReply, "A body ended without its terminating line."), reply.Connection)
                : (null, null);
        }
        catch (Exception broken) when (broken is NntpException or OperationCanceledException
            && sink.Enough.IsCompletedSuccessfully && !cancellationToken.IsCancellationRequested)
        {
            // Canceled on purpose, or failed after the needed bytes arrived.
            return (await sink.Enough, null);
        }
        finally
        {
            Interlocked.Add(ref _bytes, sink.RawBytes);
        }
    }

    /// <summary>Waits for the trailer of an article if the trailer is useful.</summary>
    /// <returns>False if the trailer is not useful or too late.</returns>
    private async Task<bool> WaitForTrailerAsync(Task fetch, ArticleHead head, HeadDemand demand)
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

/// <summary>Fetches the heads of one posted file's segments. Thread-safe.</summary>
internal sealed class SegmentHeads(HeadFetcher fetcher, ISegmentIds ids, long articleBytes)
{
    public int Count => ids.Count;

    /// <summary>Fetches the head of a segment (0-based). An implausible head counts as damaged, because it belongs to another article.</summary>
    /// <exception cref="NntpException">No provider gave a final answer.</exception>
    /// <exception cref="IOException">The stored ids are lost.</exception>
    public Task<HeadAnswer> FetchAsync(int index, Func<ArticleHead, bool> isPlausible, CancellationToken cancellationToken) =>
        FetchAsync(index, new HeadDemand(isPlausible, Whole: false, articleBytes), cancellationToken);

    /// <summary>Fetches a whole article with a doubtful header; accepts only intact data of exactly the stated length.</summary>
    public Task<HeadAnswer> ProveAsync(int index, Func<ArticleHead, bool> isPlausible, CancellationToken cancellationToken) =>
        FetchAsync(index, new HeadDemand(isPlausible, Whole: true, articleBytes), cancellationToken);

    /// <summary>Fetches the head of a segment, with its trailer if that arrives in time.</summary>
    public Task<HeadAnswer> FetchWithTrailerAsync(int index, Func<ArticleHead, bool> isPlausible, CancellationToken cancellationToken) =>
        FetchAsync(index, new HeadDemand(isPlausible, Whole: false, articleBytes) { UntilEnd = true }, cancellationToken);

    /// <summary>Fetches the head of a segment from other providers, because the known copy is incomplete.</summary>
    public Task<HeadAnswer> FetchFromOthersAsync(int index, ArticleHead known, Func<ArticleHead, bool> isPlausible, CancellationToken cancellationToken) =>
        FetchAsync(index, new HeadDemand(isPlausible, Whole: false, articleBytes) { TriedProviders = default(ProviderSet).With(known.Provider) }, cancellationToken);

    private async Task<HeadAnswer> FetchAsync(int index, HeadDemand demand, CancellationToken cancellationToken) =>
        await fetcher.FetchAsync(await ids.GetAsync(index, cancellationToken), demand, cancellationToken);
}
