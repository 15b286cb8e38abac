using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.Logging;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Streams;

/// <summary>Fetches one copy of a segment's article: asks one provider after the other until the copy is proved.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class CopyFetcher(IArticleSource source, TimeProvider time, ILogger logger)
{
    private const int TriesPerProvider = 2;

    // For so long one article waits until another has shown what its file carries; then it is confirmed by itself.
    private static readonly TimeSpan HabitPatience = TimeSpan.FromSeconds(2);

    /// <summary>Asks for an article once.</summary>
    /// <param name="fetch">What it is for.</param>
    /// <param name="sink">Takes it, and judges it then.</param>
    /// <param name="id">The article.</param>
    /// <param name="excluded">Whose copy is not wanted.</param>
    /// <param name="avoided">Connections that have brought doubtful copies; null for none.</param>
    /// <param name="cancellationToken">Gives the question up.</param>
    public ValueTask<ArticleReply> AskAsync(
        SharedFetch fetch, SegmentSink sink, MessageId id, ProviderSet excluded, IReadOnlyList<object>? avoided, CancellationToken cancellationToken)
    {
        var request = new ArticleRequest(id, fetch.Lane, fetch.Urgency, fetch.Key.Segment.EncodedLength, excluded)
        {
            Release = fetch.File,
            ContinuesInline = true,
            Avoided = avoided,
        };
        return source.FetchAsync(request, sink, cancellationToken);
    }

    /// <summary>
    /// Fetches the article of an id. One that came damaged may have been damaged on its way, and one that is unconfirmed may be confirmed
    /// by the same provider, so every provider is asked twice.
    /// </summary>
    /// <param name="fetch">What it is for.</param>
    /// <param name="sink">Takes it.</param>
    /// <param name="id">The article.</param>
    /// <param name="first">What has been answered already; null for nothing.</param>
    /// <param name="doubtful">The unconfirmed copies of the segment so far; those that come now are added.</param>
    /// <param name="cancellationToken">Gives the fetch up.</param>
    /// <returns>The buffer with one count on it, or null and why there is none.</returns>
    /// <exception cref="NntpException">Not every provider could be asked.</exception>
    /// <exception cref="MapRefutedException">The article lies elsewhere, which may be right.</exception>
    public async ValueTask<(SegmentBuffer? Buffer, ArticleLoss Loss)> FetchAsync(
        SharedFetch fetch, SegmentSink sink, MessageId id, FirstAnswer? first, DoubtfulCopies doubtful, CancellationToken cancellationToken)
    {
        var loss = ArticleLoss.Missing;
        for (var round = 0; round < TriesPerProvider; round++)
        {
            var (buffer, thisLoss) = await AskEachProviderAsync(fetch, sink, id, round == 0 ? first : null, doubtful, round == 0, cancellationToken);
            if (buffer is not null)
                return (buffer, default);
            if (thisLoss == ArticleLoss.Missing)
                break;
            loss = thisLoss;
        }

        return (null, loss);
    }

    /// <summary>Goes on until a copy is proved, by itself or because it has the bytes of another one.</summary>
    /// <param name="fetch">What it is for.</param>
    /// <param name="sink">Takes it.</param>
    /// <param name="id">The article.</param>
    /// <param name="first">What has been answered already; null for nothing.</param>
    /// <param name="doubtful">The unconfirmed copies.</param>
    /// <param name="otherStores">Whether a copy is confirmed by other stores only.</param>
    /// <param name="cancellationToken">Gives the fetch up.</param>
    private async ValueTask<(SegmentBuffer? Buffer, ArticleLoss Loss)> AskEachProviderAsync(
        SharedFetch fetch, SegmentSink sink, MessageId id, FirstAnswer? first, DoubtfulCopies doubtful, bool otherStores, CancellationToken cancellationToken)
    {
        var excluded = default(ProviderSet);
        var loss = ArticleLoss.Missing;
        var isInDoubt = false;
        while (true)
        {
            ArticleReply reply;
            try
            {
                reply = first?.Reply ?? await AskAsync(fetch, sink, id, excluded, doubtful.Connections, cancellationToken);
            }
            catch (NntpException) when (otherStores && isInDoubt)
            {
                // Another store cannot be asked now. The one that has answered can.
                return (null, loss);
            }

            if (!reply.IsFound)
                return (null, loss);
            var proof = first?.Proof ?? sink.Judge();
            first = null;
            var store = source.StoreOf(reply.Provider);
            var isConfirmed = proof == SegmentProof.Unconfirmed && doubtful.Confirm(sink.Checksum, id, store, mayBeOfOne: !otherStores);
            if (proof == SegmentProof.Unconfirmed && !isConfirmed)
                proof = await LearnHabitAsync(fetch, sink, doubtful, cancellationToken);
            switch (proof)
            {
                case SegmentProof.Proved:
                    doubtful.Settle(sink);
                    return (sink.Take(), default);
                case SegmentProof.Unconfirmed when isConfirmed:
                    sink.Confirm();
                    doubtful.Settle(sink);
                    return (sink.Take(), default);
                case SegmentProof.Unconfirmed:
                    (isInDoubt, loss) = (true, ArticleLoss.Corrupt);
                    doubtful.Add(sink.Checksum, id, reply);
                    if (otherStores)
                        excluded = excluded.Or(store);
                    break;
                case SegmentProof.Refuting:
                    throw new MapRefutedException(sink.Claim);
                default:
                    loss = ArticleLoss.Corrupt;
                    StreamsLog.CorruptArticle(logger, fetch.Key.Segment.Index + 1, reply.Provider);
                    break;
            }

            excluded = excluded.With(reply.Provider);
        }
    }

    /// <summary>Where it depends upon the habit of the file, waits for what another article shows about that.</summary>
    /// <returns>What the article is worth then.</returns>
    private async ValueTask<SegmentProof> LearnHabitAsync(SharedFetch fetch, SegmentSink sink, DoubtfulCopies doubtful, CancellationToken cancellationToken)
    {
        while (sink.HingesUponHabit && !doubtful.AsksAbout(fetch.Habit, out var answer))
        {
            try
            {
                await answer.WaitAsync(HabitPatience, time, cancellationToken);
            }
            catch (TimeoutException)
            {
                break;
            }
        }

        return sink.JudgeAgain();
    }
}

/// <summary>
/// The unconfirmed copies of one segment: the checksums of their bytes, never the bytes, and over which connections they came.
/// </summary>
/// <remarks>Of one fetch, which disposes it at its end.</remarks>
internal sealed class DoubtfulCopies : IDisposable
{
    private readonly List<(uint Checksum, MessageId Id, int From)> _copies = [];
    private List<object>? _connections;
    private FileHabit? _asked;

    /// <summary>The connections that brought them; null where none is known.</summary>
    public IReadOnlyList<object>? Connections => _connections;

    /// <summary>
    /// Whether a copy has the same bytes as one of another store or another article. One of the same does as well where no other was
    /// seen; where another has other bytes, one store that says the same twice decides nothing.
    /// </summary>
    /// <param name="checksum">Of its bytes.</param>
    /// <param name="id">Its article.</param>
    /// <param name="store">The providers that have it from the same store.</param>
    /// <param name="mayBeOfOne">Whether other stores have been asked.</param>
    public bool Confirm(uint checksum, MessageId id, ProviderSet store, bool mayBeOfOne)
    {
        var (isKnown, isAlone) = (false, true);
        foreach (var copy in _copies)
        {
            var isOther = copy.Id != id || !store.Contains(copy.From);
            if (isOther && copy.Checksum == checksum)
                return true;
            isKnown |= copy.Checksum == checksum;
            isAlone &= !isOther;
        }

        return isKnown && isAlone && mayBeOfOne;
    }

    /// <summary>One more. There are no more than questions, of which each provider gets two for each id and try.</summary>
    public void Add(uint checksum, MessageId id, ArticleReply reply)
    {
        _copies.Add((checksum, id, reply.Provider));
        if (reply.Connection is { } connection)
            (_connections ??= []).Add(connection);
    }

    /// <summary>The bytes of the segment are known: those of the copy that the sink has judged last. A provider that sent others has lied.</summary>
    public void Settle(SegmentSink sink)
    {
        foreach (var (checksum, _, from) in _copies)
        {
            if (checksum != sink.Checksum)
                sink.Convict(from);
        }
    }

    /// <summary>Whether this fetch is the one whose second copy shows what the file carries.</summary>
    /// <param name="habit">Of the file.</param>
    /// <param name="answer">Where it is not: the end of the one that is.</param>
    public bool AsksAbout(FileHabit habit, [NotNullWhen(false)] out Task? answer)
    {
        answer = _asked is null ? habit.Ask() : null;
        if (answer is null)
            _asked = habit;
        return answer is null;
    }

    /// <summary>The fetches that wait for what this one has found out go on.</summary>
    public void Dispose()
    {
        _asked?.Answered();
        _asked = null;
    }
}
