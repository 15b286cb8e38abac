using System.Collections.Concurrent;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;

namespace Sluice.Testing;

/// <summary>
/// Providers in memory: serves raw articles by message-id, each provider with copies, misses and faults of its own.
/// </summary>
/// <remarks>
/// Delivers bodies in portions and yields to other tasks between them, so a cancellation takes effect in the middle of
/// an article. Thread-safe once it is set up.
/// </remarks>
/// <param name="providers">Number of providers; index 0 is asked first.</param>
/// <param name="portion">Most bytes delivered at once.</param>
public sealed class ScriptedArticleSource(int providers = 1, int portion = 4096) : IArticleSource
{
    private readonly ConcurrentDictionary<(int Provider, MessageId Id), byte[]?> _special = new();
    private readonly ConcurrentDictionary<MessageId, byte[]> _posted = new();
    private readonly ConcurrentDictionary<MessageId, NntpFault> _faults = new();
    private readonly ConcurrentQueue<ArticleRequest> _requests = new();
    private int _running;
    private int _mostRunning;
    private int _cancelled;
    private long _delivered;

    /// <inheritdoc/>
    public int ProviderCount => providers;

    /// <summary>Every request so far.</summary>
    public IReadOnlyCollection<ArticleRequest> Requests => _requests;

    /// <summary>Most fetches that ran concurrently.</summary>
    public int MostRunning => Volatile.Read(ref _mostRunning);

    /// <summary>Running fetches; 0 once all were awaited.</summary>
    public int Running => Volatile.Read(ref _running);

    /// <summary>Number of canceled fetches.</summary>
    public int Cancelled => Volatile.Read(ref _cancelled);

    /// <summary>Raw bytes that the sinks consumed.</summary>
    public long Delivered => Interlocked.Read(ref _delivered);

    /// <summary>Bytes of each body before delivery stalls until the fetch is canceled; by default a body never stalls.</summary>
    public int HoldsAfter { get; set; } = int.MaxValue;

    /// <summary>Posts an article at every provider.</summary>
    /// <param name="id">Its message-id, without brackets.</param>
    /// <param name="wire">Its body as sent over the wire, terminating line included.</param>
    public void Post(string id, byte[] wire) => _posted[MessageId.Parse(id)] = wire;

    /// <summary>Gives one provider a different copy of an article, or no copy if null.</summary>
    public void Replace(int provider, string id, byte[]? wire) => _special[(provider, MessageId.Parse(id))] = wire;

    /// <summary>Removes an article from every provider.</summary>
    public void Remove(string id) => _posted.TryRemove(MessageId.Parse(id), out _);

    /// <summary>Makes every fetch of an article fail.</summary>
    public void Break(string id, NntpFault fault) => _faults[MessageId.Parse(id)] = fault;

    /// <inheritdoc/>
    public async ValueTask<ArticleReply> FetchAsync(ArticleRequest request, IArticleSink sink, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(sink);
        _requests.Enqueue(request);
        var running = Interlocked.Increment(ref _running);
        for (var most = MostRunning; most < running; most = MostRunning)
            Interlocked.CompareExchange(ref _mostRunning, running, most);

        try
        {
            await Task.Yield();
            if (_faults.TryGetValue(request.Id, out var fault))
                throw new NntpException(fault, "Scripted.");
            return await AskAllAsync(request, sink, cancellationToken);
        }
        catch (OperationCanceledException)
        {
            Interlocked.Increment(ref _cancelled);
            throw;
        }
        finally
        {
            Interlocked.Decrement(ref _running);
        }
    }

    /// <inheritdoc/>
    public ValueTask StatAsync(StatRequest request, Memory<ArticlePresence> answers, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        for (var i = 0; i < request.Ids.Length; i++)
            answers.Span[i] = PresenceOf(request.Ids.Span[i], request);
        return ValueTask.CompletedTask;
    }

    private ArticlePresence PresenceOf(MessageId id, StatRequest request)
    {
        var presence = default(ArticlePresence);
        for (var provider = 0; provider < providers; provider++)
        {
            if (request.Excluded.Contains(provider) || (presence.IsPresent && !request.EveryProvider))
                continue;
            if (!_special.TryGetValue((provider, id), out var wire))
                _posted.TryGetValue(id, out wire);
            if (_faults.ContainsKey(id))
                presence = presence with { Unanswered = presence.Unanswered.With(provider) };
            else if (wire is null)
                presence = presence with { Misses = presence.Misses.With(provider) };
            else
                presence = presence with { Has = presence.Has.With(provider) };
        }

        return presence;
    }

    private async Task<ArticleReply> AskAllAsync(ArticleRequest request, IArticleSink sink, CancellationToken cancellationToken)
    {
        var misses = 0;
        for (var provider = 0; provider < providers; provider++)
        {
            if (request.Excluded.Contains(provider))
                continue;
            if (!_special.TryGetValue((provider, request.Id), out var wire))
                _posted.TryGetValue(request.Id, out wire);
            if (wire is not null)
            {
                await DeliverAsync(wire, provider, sink, cancellationToken);
                return ArticleReply.FoundAt(provider);
            }

            misses++;
        }

        return ArticleReply.MissingEverywhere(new ArticleMissing(misses, misses == 0 ? 0 : 430));
    }

    private async Task DeliverAsync(byte[] wire, int provider, IArticleSink sink, CancellationToken cancellationToken)
    {
        sink.Start(provider);
        for (var offset = 0; offset < wire.Length;)
        {
            cancellationToken.ThrowIfCancellationRequested();
            var isEnd = sink.Write(wire.AsSpan(offset, Math.Min(portion, wire.Length - offset)), out var consumed);
            offset += consumed;
            Interlocked.Add(ref _delivered, consumed);
            if (isEnd)
                return;
            if (offset >= HoldsAfter)
                await Task.Delay(Timeout.InfiniteTimeSpan, TimeProvider.System, cancellationToken);
            await Task.Yield();
        }

        throw new InvalidOperationException("The scripted article has no terminating line, or the sink does not see it.");
    }
}
