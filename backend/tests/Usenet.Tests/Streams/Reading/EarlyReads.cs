using System.Globalization;
using Sluice.Testing;
using Sluice.Usenet.Nntp;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>Reads bytes of an incomplete article on a clock that stands still, with various ends of the article.</summary>
public abstract class EarlyReads : IAsyncDisposable
{
    private protected const int Part = SteppedFilm.PartSize;
    private protected const int Early = 16 * 1024;

    // Early bytes of the first article, including the flipped one. So many are missing that a load without waiters would be abandoned.
    private protected const int Landed = 100_000;

    private readonly CancellationTokenSource _over = CancellationTokenSource.CreateLinkedTokenSource(Token);
    private readonly List<Task> _answering = [];

    private protected static CancellationToken Token => TestContext.Current.CancellationToken;

    private protected ManualTimeProvider Time { get; } = new();

    public async ValueTask DisposeAsync()
    {
        await _over.CancelAsync();
        await Task.WhenAll(_answering);
        _over.Dispose();
        GC.SuppressFinalize(this);
    }

    /// <summary>Reads the first bytes of the file from an incomplete article; one of them is wrong if the copy is corrupt.</summary>
    private protected static async Task<SteppedFetch> ReadEarlyAsync(SteppedFilm film, Stream stream, byte[] read, bool isCorrupt = true)
    {
        var reading = stream.ReadExactlyAsync(read, 0, Early, Token).AsTask();
        var fetch = await film.Source.NextAsync(Token);
        fetch.Deliver((isCorrupt ? Corrupt(film) : film.Body().ToArray()).AsSpan(0, Landed));
        await reading;
        Assert.NotEqual(isCorrupt, film.Bytes.AsSpan(0, Early).SequenceEqual(read.AsSpan(0, Early)));
        return fetch;
    }

    private static byte[] Corrupt(SteppedFilm film)
    {
        var body = film.Body().ToArray();
        body[5000] = (byte)(body[5000] is var right && right is (byte)'a' ? 'b' : 'a');
        return body;
    }

    /// <summary>Sends the rest of a corrupt copy, answers all further fetches with good copies, and advances the clock for them.</summary>
    private protected async Task FailAsync(SteppedFilm film, SteppedFetch fetch)
    {
        var before = film.Source.Asked;
        DeliverCorrupt(film, fetch);
        await Eventually.HoldsAsync(() => film.Source.Asked > before, () => "no second copy was asked for", Token);
        var second = await film.Source.NextAsync(Token);
        second.Deliver(film.Body());
        second.Finish();
        Answer(film);
    }

    private protected static void DeliverCorrupt(SteppedFilm film, SteppedFetch fetch)
    {
        fetch.Deliver(Corrupt(film).AsSpan(Landed));
        fetch.Finish();
    }

    private protected static void Finish(SteppedFilm film, SteppedFetch fetch)
    {
        fetch.Deliver(film.Body()[Landed..]);
        fetch.Finish();
    }

    /// <summary>Answers all further fetches with good copies.</summary>
    private protected void Answer(SteppedFilm film, Func<ArticleRequest, byte[]>? bodyOf = null) => _answering.Add(AnswerAsync(film, bodyOf));

    private async Task AnswerAsync(SteppedFilm film, Func<ArticleRequest, byte[]>? bodyOf)
    {
        try
        {
            while (true)
            {
                var fetch = await film.Source.NextAsync(_over.Token);
                if (fetch.IsCancelled)
                    continue;
                var part = int.Parse(fetch.Request.Id.ToString().Trim('<').Split('@')[0], CultureInfo.InvariantCulture);
                fetch.Deliver(bodyOf?.Invoke(fetch.Request) ?? film.Body(part).ToArray());
                fetch.Finish();
            }
        }
        catch (OperationCanceledException)
        {
        }
    }

    /// <summary>Reads from the current position of the stream to its end.</summary>
    private protected static async Task ReadToEndAsync(Stream stream, byte[] read)
    {
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(Token);
        patience.CancelAfter(TimeSpan.FromSeconds(20));
        while (await stream.ReadAsync(read.AsMemory((int)stream.Position), patience.Token) is > 0)
        {
        }
    }

    private protected void Pause(int times)
    {
        for (var i = 0; i < times; i++)
            Time.Advance(TimeSpan.FromSeconds(10));
    }
}
