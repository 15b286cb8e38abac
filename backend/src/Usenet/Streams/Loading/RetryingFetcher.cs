using System.Runtime.ExceptionServices;
using Sluice.Usenet.Nntp;

namespace Sluice.Usenet.Streams;

/// <summary>Fetches a segment whatever it takes: every copy that its file knows of, and again after faults that pass.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class RetryingFetcher(CopyFetcher copies, StreamOptions options, TimeProvider time)
{
    private readonly RetryPolicy _retry = new(options);

    /// <summary>Fetches the segment of a shared fetch whose first answer was not it.</summary>
    /// <param name="fetch">What is fetched.</param>
    /// <param name="sink">Takes the articles.</param>
    /// <param name="first">What has been answered already.</param>
    /// <returns>The proved bytes with one count on them.</returns>
    /// <exception cref="ArticleGoneException">There is no good copy at any provider.</exception>
    /// <exception cref="NntpException">No provider could deliver for as long as it makes sense to try.</exception>
    /// <exception cref="OperationCanceledException">The fetch was abandoned.</exception>
    public async ValueTask<SegmentBuffer> FetchAsync(SharedFetch fetch, SegmentSink sink, FirstAnswer first)
    {
        using var doubtful = new DoubtfulCopies();
        var useless = 0;
        for (var tries = 1; ; tries++)
        {
            var token = tries == 1 ? first.Token : fetch.Token;
            TimeSpan delay;
            try
            {
                return await FetchFromAnyCopyAsync(fetch, sink, tries == 1 ? first : null, doubtful, token);
            }
            catch (NntpException fault)
            {
                useless += fault.IsOfReply ? 1 : 0;

                // Whoever joined last has waited least: nobody is refused because others waited before.
                if (_retry.DelayBeforeNext(fault, fetch.Lane, tries, useless, fetch.Waited) is not { } pause)
                    throw;
                delay = pause;
            }
            catch (OperationCanceledException) when (token != fetch.Token && !fetch.IsAbandoned)
            {
                // A more urgent lane has joined; nothing had arrived yet.
                continue;
            }

            await PauseAsync(fetch, delay);
        }
    }

    /// <summary>Asks for the primary id, then for those of duplicates.</summary>
    private async ValueTask<SegmentBuffer> FetchFromAnyCopyAsync(
        SharedFetch fetch, SegmentSink sink, FirstAnswer? first, DoubtfulCopies doubtful, CancellationToken cancellationToken)
    {
        var ids = fetch.Key.Ids;
        var loss = ArticleLoss.Missing;
        for (var copy = -1; copy < ids.Fallbacks.Count; copy++)
        {
            var id = copy < 0 ? ids.Primary : ids.Fallbacks[copy];
            try
            {
                if (copy < 0 && first?.Failure is { } failure)
                    ExceptionDispatchInfo.Throw(failure);
                var (buffer, thisLoss) = await copies.FetchAsync(fetch, sink, id, copy < 0 ? first : null, doubtful, cancellationToken);
                if (buffer is not null)
                    return buffer;
                if (thisLoss == ArticleLoss.Corrupt)
                    loss = thisLoss;
            }
            catch (NntpException fault) when (fault is { Fault: NntpFault.ArticleTooLarge, IsOfEveryProvider: true })
            {
                // Another article, or one without an end: as damaged as can be.
                loss = ArticleLoss.Corrupt;
            }
        }

        throw new ArticleGoneException(loss, fetch.Key.Segment.Index);
    }

    private async Task PauseAsync(SharedFetch fetch, TimeSpan delay)
    {
        var token = fetch.Token;
        try
        {
            await Task.Delay(delay, time, token);
        }
        catch (OperationCanceledException) when (token != fetch.Token && !fetch.IsAbandoned)
        {
            // Somebody in a more urgent lane does not want to wait for the end of the pause.
        }
    }
}
