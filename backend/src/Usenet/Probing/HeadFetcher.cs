using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Loading;

namespace Sluice.Usenet.Probing;

/// <summary>How much of an article is wanted, and which copies will do.</summary>
/// <param name="IsPlausible">Whether a header belongs to it.</param>
/// <param name="Whole">Whether the beginning is not enough: an article whose place has to be counted is only as good as its data.</param>
/// <param name="ArticleBytes">Encoded size of the article as far as known, else 0.</param>
internal readonly record struct HeadDemand(Func<ArticleHead, bool> IsPlausible, bool Whole, long ArticleBytes)
{
    /// <summary>Whether it is taken to its end for the sake of its trailer, although its beginning would do.</summary>
    public bool UntilEnd { get; init; }

    /// <summary>Providers whose copies have arrived already. The others are asked once, for a copy that says more.</summary>
    public ProviderSet Beside { get; init; }

    /// <summary>Whether it is asked for in addition to a head that will do.</summary>
    public bool IsWish => UntilEnd || Beside.Count > 0;

    // Sizes are a claim of the NZB. Articles of today are smaller, and a larger claim would make other fetches wait without a reason.
    private const long MostBelieved = 2 << 20;

    /// <summary>Bytes that the connection carries for it: the whole article, because the rest is on its way when the beginning is enough.</summary>
    public long ExpectedBytes => Math.Clamp(ArticleBytes, 0, MostBelieved);

    /// <summary>Whether an article will do.</summary>
    public bool IsMetBy(ArticleHead head) =>
        head.Header is not null
        && (head.IsIntact || (head.Begin is not null && !Whole))
        && (!Whole || head.Length == head.DecodedLength)
        && IsPlausible(head);
}

/// <summary>The answer to a question for the head of one article: a head, or the state that says why there is none.</summary>
/// <param name="Head">The head, or null.</param>
/// <param name="State">Found with a head; without one Missing or Corrupt.</param>
internal readonly record struct HeadAnswer(ArticleHead? Head, HeadState State)
{
    /// <summary>An article that was never posted.</summary>
    public static HeadAnswer NeverPosted => new(null, HeadState.Missing);
}

/// <summary>
/// Fetches the beginnings of articles: no more at once than allowed, no further than needed, from the next provider where a
/// copy is bad, and by the ids of duplicates where the first one is gone.
/// </summary>
/// <remarks>Thread-safe. Serves the probe of one release and counts what it cost.</remarks>
internal sealed class HeadFetcher(IArticleSource source, ProbeOptions options) : IDisposable
{
    private const int RoundsPerArticle = 2;

    private readonly SemaphoreSlim _slots = new(options.Concurrency, options.Concurrency);
    private readonly DecoderPool _decoders = new();
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
    /// <param name="demand">How much of it is wanted.</param>
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
            var answer = await FindCopyAsync(segment, demand, cancellationToken);
            if (answer.State == HeadState.Missing && demand is { Whole: false, IsWish: false })
                Interlocked.Increment(ref _misses);
            return answer;
        }
        finally
        {
            _slots.Release();
        }
    }

    /// <summary>Asks for one copy after the other until one meets the demand.</summary>
    private async Task<HeadAnswer> FindCopyAsync(SegmentIds segment, HeadDemand demand, CancellationToken cancellationToken)
    {
        var search = new CopySearch(segment, source.ProviderCount, demand.IsWish ? 1 : RoundsPerArticle, demand.Beside);
        while (search.HasNext())
        {
            // A viewer waits for all of it; it would stand behind every reader that waits, where these take all that there is.
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
            if (search.Bad(head.Provider))
                Interlocked.Increment(ref _corrupt);
            if (connection is not null)
                options.Garbled?.Invoke(connection);
        }

        return new HeadAnswer(null, search.Loss == ArticleLoss.Missing ? HeadState.Missing : HeadState.Corrupt);
    }

    /// <summary>Asks for an article once.</summary>
    /// <returns>Its beginning, or all of it, and over which connection it came if it came whole; null if no provider has it.</returns>
    private async Task<(ArticleHead? Head, object? Connection)> FetchOnceAsync(ArticleRequest request, HeadDemand demand, CancellationToken cancellationToken)
    {
        using var sink = new HeadSink(_decoders, options.HeadBytes, demand.Whole);
        Interlocked.Increment(ref _fetches);
        using var giveUp = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var fetch = source.FetchAsync(request, sink, giveUp.Token).AsTask();
        try
        {
            // The rest of the article is not needed once its beginning is there; its trailer is worth a little patience.
            if (!options.TakesWholeArticles && await Task.WhenAny(fetch, sink.Enough) != fetch && !await ComesToItsEndAsync(fetch, await sink.Enough, demand))
                await giveUp.CancelAsync();
            var reply = await fetch;
            return reply.IsFound
                ? (sink.Whole ?? throw new NntpException(NntpFault.MalformedReply, "A body ended without its terminating line."), reply.Connection)
                : (null, null);
        }
        catch (Exception broken) when (broken is NntpException or OperationCanceledException
            && sink.Enough.IsCompletedSuccessfully && !cancellationToken.IsCancellationRequested)
        {
            // The fetch was given up, or broke behind the bytes that are needed.
            return (await sink.Enough, null);
        }
        finally
        {
            Interlocked.Add(ref _bytes, sink.RawBytes);
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

/// <summary>The heads of the segments of one posted file.</summary>
/// <remarks>Thread-safe.</remarks>
/// <param name="fetcher">Brings them; not owned.</param>
/// <param name="ids">The ids of the file.</param>
/// <param name="articleBytes">Encoded size of its articles as far as known, else 0.</param>
internal sealed class SegmentHeads(HeadFetcher fetcher, ISegmentIds ids, long articleBytes)
{
    /// <summary>Number of segments.</summary>
    public int Count => ids.Count;

    /// <summary>Fetches the head of a segment.</summary>
    /// <param name="index">0-based segment.</param>
    /// <param name="isPlausible">Whether a header belongs to this segment; what does not is another article, and as good as damaged.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="NntpException">Nothing can be said, because no provider could be asked to the end.</exception>
    /// <exception cref="IOException">The stored ids are lost.</exception>
    public Task<HeadAnswer> FetchAsync(int index, Func<ArticleHead, bool> isPlausible, CancellationToken cancellationToken) =>
        FetchAsync(index, new HeadDemand(isPlausible, Whole: false, articleBytes), cancellationToken);

    /// <summary>Fetches a whole article whose header is in doubt: only one whose data is intact and as long as its header says is accepted.</summary>
    /// <inheritdoc cref="FetchAsync(int, Func{ArticleHead, bool}, CancellationToken)"/>
    public Task<HeadAnswer> ProveAsync(int index, Func<ArticleHead, bool> isPlausible, CancellationToken cancellationToken) =>
        FetchAsync(index, new HeadDemand(isPlausible, Whole: true, articleBytes), cancellationToken);

    /// <summary>Fetches the head of a segment and its trailer, if that comes.</summary>
    /// <inheritdoc cref="FetchAsync(int, Func{ArticleHead, bool}, CancellationToken)"/>
    public Task<HeadAnswer> FetchWithTrailerAsync(int index, Func<ArticleHead, bool> isPlausible, CancellationToken cancellationToken) =>
        FetchAsync(index, new HeadDemand(isPlausible, Whole: false, articleBytes) { UntilEnd = true }, cancellationToken);

    /// <summary>Fetches the head of a segment from other providers than one whose copy says too little.</summary>
    /// <inheritdoc cref="FetchAsync(int, Func{ArticleHead, bool}, CancellationToken)"/>
    public Task<HeadAnswer> FetchBesideAsync(int index, ArticleHead known, Func<ArticleHead, bool> isPlausible, CancellationToken cancellationToken) =>
        FetchAsync(index, new HeadDemand(isPlausible, Whole: false, articleBytes) { Beside = default(ProviderSet).With(known.Provider) }, cancellationToken);

    private async Task<HeadAnswer> FetchAsync(int index, HeadDemand demand, CancellationToken cancellationToken) =>
        await fetcher.FetchAsync(await ids.GetAsync(index, cancellationToken), demand, cancellationToken);
}
