using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nntp.Health;
using Sluice.Usenet.Nntp.Wire;
using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Nntp.Fetching;

/// <summary>Asks one provider after another which articles it has: the first about all, later ones about the articles still missing.</summary>
/// <remarks>Serves one request, whose parts it walks in parallel.</remarks>
internal sealed class StatWalk(FetchServices services, StatRequest request)
{
    // While a connection works through one part, the next part is ready.
    private const int PartsForAConnection = 2;

    /// <summary>Checks all articles of the request and fills in one answer per id.</summary>
    public async ValueTask RunAsync(Memory<ArticlePresence> answers, CancellationToken cancellationToken)
    {
        var size = services.Options.MaxStatDepth;
        var parts = (request.Ids.Length + size - 1) / size;
        var connections = services.Providers.Where(provider => provider.Options.Kind != ProviderKind.Disabled).Sum(provider => provider.Options.MaxConnections);
        var atATime = new ParallelOptions { MaxDegreeOfParallelism = Math.Max(1, connections * PartsForAConnection), CancellationToken = cancellationToken };
        await Parallel.ForAsync(0, parts, atATime, async (part, token) =>
        {
            var range = new Range(part * size, Math.Min((part + 1) * size, request.Ids.Length));
            await RunPartAsync(request.Ids[range], answers[range], token);
        });
    }

    private async Task RunPartAsync(ReadOnlyMemory<MessageId> ids, Memory<ArticlePresence> answers, CancellationToken cancellationToken)
    {
        var asked = request.Excluded;
        var left = new List<int>(ids.Length);
        while (ProviderSelector.Next(services.Providers, asked, null, forStat: true) is { } provider)
        {
            asked = asked.With(provider.Index);
            left.Clear();
            for (var i = 0; i < ids.Length; i++)
            {
                if (IsWanted(answers.Span[i], provider))
                    left.Add(i);
            }

            if (!await TryAskAsync(provider, asked, ids, answers, left, cancellationToken))
                asked = asked.Without(provider.Index);
        }
    }

    private bool IsWanted(ArticlePresence known, Provider provider)
    {
        if (request.EveryProvider)
            return true;
        if (known.IsPresent)
            return false;
        foreach (var other in services.Providers)
        {
            if (known.Misses.Contains(other.Index) && other.SharesBackbone(provider))
                return false;
        }

        return true;
    }

    /// <summary>Asks one provider about the articles at these indexes, and records its answers or their absence.</summary>
    /// <returns>False if the provider does not answer a dial and another provider should be asked first.</returns>
    private async Task<bool> TryAskAsync(
        Provider provider, ProviderSet asked, ReadOnlyMemory<MessageId> ids, Memory<ArticlePresence> answers, List<int> left, CancellationToken cancellationToken)
    {
        var failures = 0;
        // An account without data left counts as unanswered.
        while (left.Count > 0 && failures <= services.Options.RetriesPerProvider && provider.Pool.Quota.State != QuotaState.Spent)
        {
            using var probe = provider.Pool.Health.Stats.TryProbe();
            if (probe is null && ProviderSelector.MustSpare(services.Providers, provider, Spent(), forStat: true) is not null)
                break;

            // A probe uses one article only, because one reply shows whether the server works again.
            var count = probe is null ? Math.Min(left.Count, provider.Pool.Depth.Stats(provider.Pool.Line)) : 1;
            var batch = new StatBatch(left.Take(count).Select(i => ids.Span[i]).ToArray(), request.Lane);
            var (isSent, isInStep) = (false, false);
            try
            {
                var outcome = await AskAsync(provider, batch, () => isSent = true, cancellationToken);
                if (outcome.Proof is { } proof)
                    await proof.Settled.WaitAsync(cancellationToken);
                isInStep = outcome.Proof is null or { IsProved: true };
                failures += isInStep ? 0 : 1;
                provider.Pool.Health.Stats.Succeeded();
                probe?.Passed();
            }
            catch (NntpException fault) when (fault.Fault == NntpFault.GivenUp && !isSent && provider.Pool.IsMute)
            {
                if (ProviderSelector.Next(services.Providers, asked, null, forStat: true) is { } other && !ProviderSelector.IsResting(other, mayProbe: false, forStat: true))
                    return false;
                continue;
            }
            catch (NntpException fault)
            {
                if (isSent && ProviderHealth.IsTelling(fault))
                    probe?.Failed(fault);
                failures = fault.IsTransient && !provider.Pool.IsUnreachable ? failures + 1 : int.MaxValue;
            }

            for (var k = 0; k < count; k++)
                Note(ref answers.Span[left[k]], provider.Index, batch.CodeOf(k, isInStep));
            left.RemoveAll(i => IsAnswered(answers.Span[i], provider.Index));
        }

        foreach (var i in left)
            answers.Span[i] = answers.Span[i] with { Unanswered = answers.Span[i].Unanswered.With(provider.Index) };
        return true;
    }

    private ProviderSet Spent()
    {
        var spent = default(ProviderSet);
        foreach (var provider in services.Providers)
            spent = provider.Pool.Quota.State == QuotaState.Spent ? spent.With(provider.Index) : spent;
        return spent;
    }

    private static async Task<ReplyOutcome> AskAsync(Provider provider, StatBatch batch, Action sent, CancellationToken cancellationToken)
    {
        using var lease = new ConnectionLease(batch.Request);
        await provider.Pool.LeaseAsync(lease, cancellationToken);
        sent();
        return await lease.AskAsync(batch, cancellationToken);
    }

    private static bool IsAnswered(ArticlePresence presence, int provider) => presence.Has.Contains(provider) || presence.Misses.Contains(provider);

    private static void Note(ref ArticlePresence presence, int provider, int code)
    {
        if (code == NntpResponseCode.ArticleExists)
            presence = presence with { Has = presence.Has.With(provider) };
        else if (NntpResponseCode.IsMiss(code))
            presence = presence with { Misses = presence.Misses.With(provider) };
    }
}
