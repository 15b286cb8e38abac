using System.Buffers;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Fetching;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Yenc;

namespace Sluice.Server.Providers;

/// <summary>What a measure of the speed may cost.</summary>
/// <param name="Bytes">Bytes of articles that are asked for at most.</param>
/// <param name="Time">It takes no longer.</param>
internal sealed record SpeedBudget(long Bytes, TimeSpan Time)
{
    /// <summary>Enough for the slow start of a fast line, and no loss to a small block account.</summary>
    public static SpeedBudget Usual { get; } = new(200_000_000, TimeSpan.FromSeconds(10));
}

/// <summary>
/// Measures how fast articles come over some connections until its budget is spent, decoded as they are when a film plays, so that a
/// processor that is too slow shows as well.
/// </summary>
/// <remarks>
/// <c>_gate</c> guards the counts, under which nothing else is taken. Used once.
/// </remarks>
/// <param name="connections">Logged in, and owing nothing.</param>
/// <param name="budget">What it may cost.</param>
/// <param name="time">Clock.</param>
/// <param name="progress">Takes the speed so far in bytes per second, now and then, on any thread.</param>
internal sealed class SpeedMeasure(IReadOnlyList<TestConnection> connections, SpeedBudget budget, TimeProvider time, Action<long> progress)
{
    // Less says nothing about a line.
    private const long FewestBytes = 256 << 10;

    // Bodies asked for at a time over all connections: what a fast line at a far server needs.
    private const int Outstanding = 40;
    private const int MostOnOne = 10;

    // What an article is held for where no NZB tells its size; the difference is made up for when it has come.
    private const int UsualBytes = 800_000;

    // Numbers of a group that are asked for without any article, one after the other.
    private const int MostMisses = 200;

    private static readonly TimeSpan Pace = TimeSpan.FromMilliseconds(500);

    // Groups that carry binaries at every provider which has any.
    private static readonly string[] Groups = ["alt.binaries.test", "alt.binaries.boneless"];

    private readonly Lock _gate = new();
    private long _promised;
    private long _received;
    private long _found;
    private long _missed;
    private long _firstAt;
    private long _lastAt;
    private long _toldAt;

    /// <summary>Measures with the articles that are known here, else with those of a group.</summary>
    /// <param name="articles">Finds them.</param>
    /// <param name="cancellationToken">Gives the measure up.</param>
    /// <returns>Bytes per second; null where there was nothing to measure with.</returns>
    public async Task<long?> RunAsync(SpeedArticles articles, CancellationToken cancellationToken)
    {
        using var over = new CancellationTokenSource(budget.Time, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(over.Token, cancellationToken);
        try
        {
            var known = await articles(either.Token);
            if (known.Count > 0)
                await FetchAsync(connections, new KnownArticles(known), over, either.Token);
            foreach (var group in Groups)
            {
                if (_received < FewestBytes)
                    await FetchGroupAsync(group, over, either.Token);
            }
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            // Its time is over; what has come by then is the measure.
        }

        cancellationToken.ThrowIfCancellationRequested();
        lock (_gate)
            return _received >= FewestBytes ? Speed() : null;
    }

    private async Task FetchGroupAsync(string group, CancellationTokenSource over, CancellationToken cancellationToken)
    {
        // One is asked first: where it is refused, so it would be on all.
        List<TestConnection> sound = [.. connections.Where(connection => connection.Owed == 0)];
        if (sound.Count == 0 || await SelectAsync(sound[0], group, cancellationToken) is not { } numbers)
            return;
        var others = await Task.WhenAll(sound.Skip(1).Select(connection => SelectAsync(connection, group, cancellationToken)));
        List<TestConnection> selected = [sound[0], .. sound.Skip(1).Where((_, index) => others[index] is not null)];
        await FetchAsync(selected, new NumberedArticles(numbers.First, numbers.Last), over, cancellationToken);
    }

    private static async Task<(long First, long Last)?> SelectAsync(TestConnection connection, string group, CancellationToken cancellationToken)
    {
        try
        {
            return await connection.SelectAsync(group, cancellationToken);
        }
        catch (NntpException)
        {
            // One connection less; the others go on.
            return null;
        }
    }

    private Task FetchAsync(IReadOnlyList<TestConnection> with, IArticleSupply supply, CancellationTokenSource over, CancellationToken cancellationToken)
    {
        var depth = Math.Clamp(Outstanding / Math.Max(1, with.Count), 2, MostOnOne);
        lock (_gate)
            (_found, _missed) = (0, 0);
        return Task.WhenAll(with.Select(connection => FetchAsync(connection, supply, depth, new DecodedSink(bytes => Received(bytes, over)), cancellationToken)));
    }

    private async Task FetchAsync(TestConnection connection, IArticleSupply supply, int depth, DecodedSink sink, CancellationToken cancellationToken)
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
            // One connection less; the others go on.
        }
    }

    private bool TryTake(IArticleSupply supply, out AskedArticle article)
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

    /// <summary>By the sinks, as the bytes come. Sizes that were told wrong do not lead beyond the most.</summary>
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
            if (time.GetElapsedTime(_toldAt, now) >= Pace)
                (_toldAt, speed) = (now, Speed());
        }

        if (isEnough)
            over.Cancel();
        if (speed is { } known)
            progress(known);
    }

    private long? Speed() => time.GetElapsedTime(_firstAt, _lastAt).TotalSeconds is var seconds and > 0 ? (long)(_received / seconds) : null;

    /// <summary>One article by its name, or by its number where the name is empty.</summary>
    private readonly record struct AskedArticle(MessageId Id, long Number, int Bytes);

    /// <summary>Articles in the order in which they are asked for. Used under the lock of the measure.</summary>
    private interface IArticleSupply
    {
        /// <summary>So many may be missing before any has come.</summary>
        int Patience { get; }

        /// <summary>The next; null after the last.</summary>
        AskedArticle? Next();
    }

    /// <summary>Over and over: a short post is enough for a long measure.</summary>
    private sealed class KnownArticles(IReadOnlyList<SpeedArticle> articles) : IArticleSupply
    {
        private int _next;

        public int Patience => articles.Count;

        public AskedArticle? Next()
        {
            var article = articles[_next++ % articles.Count];
            return new AskedArticle(article.Id, 0, article.Bytes > 0 ? article.Bytes : UsualBytes);
        }
    }

    /// <summary>The newest first.</summary>
    private sealed class NumberedArticles(long first, long last) : IArticleSupply
    {
        private long _next = last;

        public int Patience => MostMisses;

        public AskedArticle? Next() => _next >= Math.Max(1, first) ? new AskedArticle(default, _next--, UsualBytes) : null;
    }

    /// <summary>Decodes a body and keeps nothing of it.</summary>
    private sealed class DecodedSink(Action<int> received) : IArticleSink, IBufferWriter<byte>
    {
        private const int Block = 64 << 10;

        private readonly ArticleDecoder _decoder = new();
        private byte[] _block = new byte[Block];

        /// <summary>Bytes of the body as they came.</summary>
        public long Bytes { get; private set; }

        /// <summary>The next body is waited for.</summary>
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
