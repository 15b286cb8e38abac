using System.Buffers;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Fetching;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Yenc;

namespace Sluice.Server.Providers;

/// <summary>An article for measuring the speed of a provider. <c>Bytes</c> is its posted size; 0 if unknown.</summary>
internal readonly record struct SpeedArticle(MessageId Id, int Bytes);

/// <summary>Finds articles that a provider probably has; none if no NZB is stored yet.</summary>
internal delegate Task<IReadOnlyList<SpeedArticle>> SpeedArticles(CancellationToken cancellationToken);

/// <summary>The limits of a speed measurement, in article bytes and time.</summary>
internal sealed record SpeedBudget(long Bytes, TimeSpan Time)
{
    /// <summary>Enough to outlast TCP slow start on a fast line, but little for a small block account.</summary>
    public static SpeedBudget Usual { get; } = new(200_000_000, TimeSpan.FromSeconds(10));
}

/// <summary>Measures the download speed until the budget is spent. Decodes articles like playback, so that a slow CPU shows in the result.</summary>
/// <remarks>
/// Runs once. The connections must be logged in and idle. Calls <paramref name="progress"/> with bytes per second on any thread. <c>_gate</c> guards
/// counts and supply; no other lock is taken inside it.
/// </remarks>
internal sealed class SpeedMeasure(IReadOnlyList<TestConnection> connections, SpeedBudget budget, TimeProvider time, Action<long> progress)
{
    // Fewer bytes are too small a sample for a speed.
    private const long FewestBytes = 256 << 10;

    // Requests in flight over all connections: enough for a fast line to a distant server.
    private const int Outstanding = 40;
    private const int MostOnOne = 10;

    // Assumed article size if no NZB states it. Corrected once the article has arrived.
    private const int UsualBytes = 800_000;

    // Skip a group after this many consecutive misses without any article.
    private const int MostMisses = 200;

    private static readonly TimeSpan ProgressInterval = TimeSpan.FromMilliseconds(500);

    // Known groups suffice, because every provider of binaries carries them.
    private static readonly string[] Groups = ["alt.binaries.test", "alt.binaries.boneless"];

    private readonly Lock _gate = new();
    private long _promised;
    private long _received;
    private long _found;
    private long _missed;
    private long _firstAt;
    private long _lastAt;
    private long _toldAt;

    /// <summary>Measures with known articles, or without those with the newest articles of a group.</summary>
    /// <returns>Bytes per second; null if too few bytes arrived.</returns>
    public async Task<long?> RunAsync(SpeedArticles articles, CancellationToken cancellationToken)
    {
        using var over = new CancellationTokenSource(budget.Time, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(over.Token, cancellationToken);
        try
        {
            var known = await articles(either.Token);
            if (known.Count > 0)
                await FetchAsync(connections, Repeat(known), over, either.Token);
            foreach (var group in Groups)
            {
                if (_received < FewestBytes)
                    await FetchGroupAsync(group, over, either.Token);
            }
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            // The time is over. The bytes received so far are the result.
        }

        cancellationToken.ThrowIfCancellationRequested();
        lock (_gate)
            return _received >= FewestBytes ? Speed() : null;
    }

    private async Task FetchGroupAsync(string group, CancellationTokenSource over, CancellationToken cancellationToken)
    {
        // Try one connection first, because a refusal would be the same on all.
        List<TestConnection> sound = [.. connections.Where(connection => connection.Owed == 0)];
        if (sound.Count == 0 || await SelectAsync(sound[0], group, cancellationToken) is not { } numbers)
            return;
        var others = await Task.WhenAll(sound.Skip(1).Select(connection => SelectAsync(connection, group, cancellationToken)));
        List<TestConnection> selected = [sound[0], .. sound.Skip(1).Where((_, index) => others[index] is not null)];
        await FetchAsync(selected, CountDown(numbers.First, numbers.Last), over, cancellationToken);
    }

    private static async Task<(long First, long Last)?> SelectAsync(TestConnection connection, string group, CancellationToken cancellationToken)
    {
        try
        {
            return await connection.SelectAsync(group, cancellationToken);
        }
        catch (NntpException)
        {
            // The other connections continue.
            return null;
        }
    }

    private Task FetchAsync(IReadOnlyList<TestConnection> with, ArticleSupply supply, CancellationTokenSource over, CancellationToken cancellationToken)
    {
        var depth = Math.Clamp(Outstanding / Math.Max(1, with.Count), 2, MostOnOne);
        lock (_gate)
            (_found, _missed) = (0, 0);
        return Task.WhenAll(with.Select(connection => FetchAsync(connection, supply, depth, new DecodedSink(bytes => Received(bytes, over)), cancellationToken)));
    }

    private async Task FetchAsync(TestConnection connection, ArticleSupply supply, int depth, DecodedSink sink, CancellationToken cancellationToken)
    {
        var promised = new Queue<int>();
        try
        {
            while (true)
            {
                while (promised.Count < depth && TryTake(supply, out var article))
                {
                    promised.Enqueue(article.Bytes);
                    await (article.Id.IsEmpty ? connection.AskAsync(article.Number, cancellationToken) : connection.AskAsync(article.Id, cancellationToken));
                }

                if (promised.Count == 0)
                    return;
                sink.Begin();
                Settle(await connection.ReceiveAsync(sink, cancellationToken), sink.Bytes - promised.Dequeue());
            }
        }
        catch (NntpException)
        {
            // The other connections continue.
        }
    }

    private bool TryTake(ArticleSupply supply, out AskedArticle article)
    {
        lock (_gate)
        {
            article = default;
            if (_promised >= budget.Bytes || (_found == 0 && _missed >= supply.Patience) || supply.Next() is not { } next || _promised + next.Bytes > budget.Bytes)
                return false;
            _promised += next.Bytes;
            article = next;
            return true;
        }
    }

    private void Settle(bool isFound, long difference)
    {
        lock (_gate)
        {
            _promised += difference;
            (_found, _missed) = isFound ? (_found + 1, _missed) : (_found, _missed + 1);
        }
    }

    /// <summary>Counts bytes as they arrive. Stops at the budget, because posted sizes may be wrong.</summary>
    private void Received(int bytes, CancellationTokenSource over)
    {
        long? speed = null;
        bool isEnough;
        lock (_gate)
        {
            var now = time.GetTimestamp();
            if (_received == 0)
                _firstAt = _toldAt = now;
            _received += bytes;
            _lastAt = now;
            isEnough = _received >= budget.Bytes;
            if (time.GetElapsedTime(_toldAt, now) >= ProgressInterval)
                (_toldAt, speed) = (now, Speed());
        }

        if (isEnough)
            over.Cancel();
        if (speed is { } known)
            progress(known);
    }

    private long? Speed() => time.GetElapsedTime(_firstAt, _lastAt).TotalSeconds is var seconds and > 0 ? (long)(_received / seconds) : null;

    /// <summary>A requested article: by message-id, or by number if the id is empty.</summary>
    private readonly record struct AskedArticle(MessageId Id, long Number, int Bytes);

    /// <summary>
    /// Articles in request order. The measurement stops after <c>Patience</c> misses before the first article. <c>Next</c> is called under the lock and
    /// returns null at the end.
    /// </summary>
    private sealed record ArticleSupply(int Patience, Func<AskedArticle?> Next);

    /// <summary>Repeats the articles, so that a short post suffices for a long measurement.</summary>
    private static ArticleSupply Repeat(IReadOnlyList<SpeedArticle> articles)
    {
        var next = 0;
        return new ArticleSupply(articles.Count, () =>
        {
            var article = articles[next++ % articles.Count];
            return new AskedArticle(article.Id, 0, article.Bytes > 0 ? article.Bytes : UsualBytes);
        });
    }

    /// <summary>Counts down from the newest number.</summary>
    private static ArticleSupply CountDown(long first, long last) =>
        new(MostMisses, () => last >= Math.Max(1, first) ? new AskedArticle(default, last--, UsualBytes) : null);

    /// <summary>Decodes a body and discards it.</summary>
    private sealed class DecodedSink(Action<int> received) : IArticleSink, IBufferWriter<byte>
    {
        private const int Block = 64 << 10;

        private readonly ArticleDecoder _decoder = new();
        private byte[] _block = new byte[Block];

        /// <summary>Encoded bytes of the current body.</summary>
        public long Bytes { get; private set; }

        public void Begin() => Bytes = 0;

        public void Start(int provider) => _decoder.Reset();

        public bool Write(ReadOnlySpan<byte> raw, out int consumed)
        {
            var isWhole = _decoder.Decode(raw, this, out consumed);
            Bytes += consumed;
            received(consumed);
            return isWhole;
        }

        public void Advance(int count)
        {
        }

        public Memory<byte> GetMemory(int sizeHint = 0) => _block.Length >= sizeHint ? _block : _block = new byte[sizeHint];

        public Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;
    }
}
