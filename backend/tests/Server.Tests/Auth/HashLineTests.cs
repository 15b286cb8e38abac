using System.Collections.Concurrent;
using Sluice.Server.Auth;
using Xunit;

namespace Sluice.Server.Tests.Auth;

/// <summary>Which header waits behind which in the line before the slow hash (S2), with a hash that ends when the test says so.</summary>
public sealed class HashLineTests : IAsyncDisposable
{
    private readonly SteppedTime _time = new();
    private readonly FailureBudget _failures;
    private readonly HashLine _line;
    private readonly BlockingCollection<bool> _verdicts = [];
    private readonly BlockingCollection<string> _begun = [];

    public HashLineTests()
    {
        _failures = Callers.Budget(_time);
        _line = new HashLine(_failures, attempt =>
        {
            _begun.Add(attempt.Header);
            return _verdicts.Take();
        });
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public async ValueTask DisposeAsync()
    {
        _verdicts.CompleteAdding();
        await _line.DisposeAsync();
        _verdicts.Dispose();
        _begun.Dispose();
    }

    [Fact]
    public async Task Requests_with_one_header_share_one_hash_and_its_verdict()
    {
        var waiting = Enumerable.Range(0, 200).Select(i => Ask("same", $"192.0.2.{i % 100}")).ToList();

        Assert.Equal("same", Begun());
        _verdicts.Add(true, Token);

        Assert.All(await Task.WhenAll(waiting), verdict => Assert.True(verdict));
        Assert.Empty(_begun);
    }

    [Fact]
    public async Task Wrong_header_counts_once_against_each_sender_that_brought_it()
    {
        var waiting = new[] { Ask("wrong", "192.0.2.1"), Ask("wrong", "192.0.2.1"), Ask("wrong", "192.0.2.2") };
        using (var gone = new CancellationTokenSource())
        {
            var left = Ask("wrong", "192.0.2.3", cancel: gone.Token);
            await gone.CancelAsync();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => left);
        }

        Begun();
        _verdicts.Add(false, Token);

        Assert.All(await Task.WhenAll(waiting), verdict => Assert.False(verdict));
        Assert.Equal([1, 1, 1, 0], Enumerable.Range(1, 4).Select(i => _failures.Failures(Callers.At($"192.0.2.{i}"))));
    }

    [Fact]
    public async Task Sender_has_one_place_and_the_next_is_refused_at_once()
    {
        var first = Ask("a", "2001:db8::1");
        Begun();

        Assert.Null(await Ask("b", "2001:db8::2"));
        var other = Ask("c", "2001:db8:0:1::1");
        Assert.Null(await Ask("d", "2001:db8:0:1::1"));

        _verdicts.Add(false, Token);
        Assert.False(await first);
        _verdicts.Add(false, Token);
        Assert.False(await other);
        var again = Ask("b", "2001:db8::2");
        _verdicts.Add(true, Token);
        Assert.True(await again);
    }

    [Fact]
    public async Task Line_is_bounded_and_the_sender_with_fewest_failures_goes_first()
    {
        var running = Ask("running", "192.0.2.100");
        Begun();
        var guessers = Enumerable.Range(1, HashLine.MaxPlaces).Select(i => Ask($"guess {i}", $"192.0.2.{i}", rank: i)).ToList();

        Assert.Null(await Ask("late", "192.0.2.50", rank: HashLine.MaxPlaces));
        var newcomer = Ask("newcomer", "192.0.2.51", rank: 0);
        // The last in the line made room for it.
        Assert.Null(await guessers[^1]);
        var known = Ask("known", "192.0.2.1", rank: HashLine.Known);
        Assert.Null(await guessers[^2]);

        for (var i = 0; i < HashLine.MaxPlaces + 1; i++)
            _verdicts.Add(false, Token);
        await Task.WhenAll([running, newcomer, known, .. guessers]);
        Assert.Equal(["known", "newcomer", .. Enumerable.Range(1, HashLine.MaxPlaces - 2).Select(i => $"guess {i}")], _begun);
    }

    [Fact]
    public async Task Header_that_no_request_waits_for_any_more_is_not_hashed()
    {
        var running = Ask("running", "192.0.2.100");
        Begun();
        using var gone = new CancellationTokenSource();
        var left = Ask("left", "192.0.2.1", cancel: gone.Token);
        var stays = Ask("stays", "192.0.2.2");

        await gone.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => left);
        _verdicts.Add(false, Token);
        _verdicts.Add(true, Token);

        Assert.False(await running);
        Assert.True(await stays);
        Assert.Equal(["stays"], _begun);
        Assert.Equal(0, _failures.Failures(Callers.At("192.0.2.1")));
    }

    [Fact]
    public async Task Hash_that_breaks_fails_its_own_requests_and_no_others()
    {
        await using var line = new HashLine(_failures, attempt => attempt.Header == "good" ? true : throw new InvalidOperationException());

        await Assert.ThrowsAsync<InvalidOperationException>(() => line.JudgeAsync(new("bad", "u", "p"), Callers.At("192.0.2.1"), 0, Token).AsTask());
        Assert.True(await line.JudgeAsync(new("good", "u", "p"), Callers.At("192.0.2.1"), 0, Token));
    }

    private string Begun() => _begun.Take(Token);

    private Task<bool?> Ask(string header, string from, int rank = 0, CancellationToken? cancel = null) =>
        _line.JudgeAsync(new BasicAttempt(header, "u", "p"), Callers.At(from), rank, cancel ?? Token).AsTask();
}
