using System.Collections.Concurrent;
using Sluice.Server.Auth;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Auth;

/// <summary>The order of the queue before the slow hash (S2), with hashes that end on command.</summary>
public sealed class HashLineTests : IAsyncDisposable
{
    private readonly ManualTimeProvider _time = new();
    private readonly FailureBudget _failures;
    private readonly HashLine _line;
    private readonly BlockingCollection<bool> _verdicts = [];
    private readonly BlockingCollection<string> _begun = [];

    public HashLineTests()
    {
        _failures = Callers.Budget(_time);
        _line = new HashLine(_failures, _time);
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
    public async Task Requests_with_the_same_header_share_one_hash()
    {
        var waiting = Enumerable.Range(0, 200).Select(i => Ask("same", $"192.0.2.{i % 100}")).ToList();

        Assert.Equal("same", Begun());
        _verdicts.Add(true, Token);

        Assert.All(await Task.WhenAll(waiting), verdict => Assert.True(verdict));
        Assert.Empty(_begun);
    }

    [Fact]
    public async Task Wrong_header_counts_once_against_each_waiting_sender()
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
        Assert.Equal([1, 1, 1, 0], Enumerable.Range(1, 4).Select(i => _failures.Rank(CredentialKind.WebDav, Callers.At($"192.0.2.{i}"))));
    }

    [Fact]
    public async Task Second_header_of_a_waiting_sender_is_refused_at_once()
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
    public async Task Full_queue_serves_senders_with_fewest_failures_first()
    {
        var running = Ask("running", "192.0.2.100");
        Begun();
        var guessers = Enumerable.Range(1, HashLine.MaxPlaces).Select(i => Ask($"guess {i}", $"192.0.2.{i}", rank: i)).ToList();

        Assert.Null(await Ask("late", "192.0.2.50", rank: HashLine.MaxPlaces));
        var newcomer = Ask("newcomer", "192.0.2.51", rank: 0);
        // The last guesser in the queue is dropped to make room.
        Assert.Null(await guessers[^1]);
        var known = Ask("known", "192.0.2.1", rank: HashLine.Known);
        Assert.Null(await guessers[^2]);

        for (var i = 0; i < HashLine.MaxPlaces + 1; i++)
            _verdicts.Add(false, Token);
        await Task.WhenAll([running, newcomer, known, .. guessers]);
        Assert.Equal(["known", "newcomer", .. Enumerable.Range(1, HashLine.MaxPlaces - 2).Select(i => $"guess {i}")], _begun);
    }

    [Fact]
    public async Task Header_of_a_canceled_request_is_not_hashed()
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
        Assert.Equal(0, _failures.Rank(CredentialKind.WebDav, Callers.At("192.0.2.1")));
    }

    [Fact]
    public async Task Throwing_hash_fails_only_its_own_request()
    {
        var bad = new HashAttempt(CredentialKind.WebDav, 1, () => throw new InvalidOperationException());
        var good = new HashAttempt(CredentialKind.WebDav, 2, () => true);

        await Assert.ThrowsAsync<InvalidOperationException>(() => _line.JudgeAsync(bad, Callers.At("192.0.2.1"), 0, Token).AsTask());
        Assert.True(await _line.JudgeAsync(good, Callers.At("192.0.2.1"), 0, Token));
    }

    [Fact]
    public async Task Credential_kinds_share_one_queue_with_a_slot_for_each()
    {
        var tree = Ask("tree", "192.0.2.1");
        Begun();
        var login = Ask("login", "192.0.2.1", kind: CredentialKind.AdminPassword);

        Assert.Null(await Ask("another", "192.0.2.1", kind: CredentialKind.AdminPassword));
        Assert.Empty(_begun);
        _verdicts.Add(false, Token);
        Assert.False(await tree);
        Assert.Equal("login", Begun());
        _verdicts.Add(true, Token);
        Assert.True(await login);
    }

    [Fact]
    public async Task Known_address_may_queue_two_headers()
    {
        var running = Ask("running", "192.0.2.100");
        Begun();
        var stale = Ask("stale", "192.0.2.1", HashLine.Familiar);
        var right = Ask("right", "192.0.2.1", HashLine.Familiar);

        Assert.Null(await Ask("third", "192.0.2.1", HashLine.Familiar));
        foreach (var verdict in new[] { false, false, true })
            _verdicts.Add(verdict, Token);

        Assert.Equal([false, false, true], await Task.WhenAll(running, stale, right));
    }

    [Fact]
    public async Task Stranger_not_next_in_line_is_refused_after_500_ms()
    {
        var running = Ask("running", "192.0.2.100");
        Begun();
        var known = Ask("known", "192.0.2.1", rank: HashLine.Known);
        var familiar = Ask("familiar", "192.0.2.2", rank: HashLine.Familiar);
        var (stranger, shared) = (Ask("stranger", "192.0.2.3"), Ask("shared", "192.0.2.4"));
        var friend = Ask("shared", "192.0.2.5", rank: HashLine.Familiar);

        _time.Advance(TimeSpan.FromMilliseconds(500) - TimeSpan.FromTicks(1));
        Assert.False(stranger.IsCompleted);
        _time.Advance(TimeSpan.FromTicks(1));
        Assert.Null(await stranger);

        for (var i = 0; i < 3; i++)
            _verdicts.Add(true, Token);
        await Task.WhenAll(running, known, familiar);
        var next = Ask("next", "192.0.2.6");
        Assert.Equal(["known", "familiar", "shared"], new[] { Begun(), Begun(), Begun() });
        _time.Advance(TimeSpan.FromMinutes(1));
        for (var i = 0; i < 2; i++)
            _verdicts.Add(true, Token);

        Assert.All(await Task.WhenAll(known, familiar, shared, friend, next), verdict => Assert.True(verdict));
        Assert.Equal(0, _time.Alive);
    }

    [Fact]
    public async Task New_sender_is_served_before_400_failed_guessers()
    {
        for (var i = 0; i < 400; i++)
        {
            var guess = AskByRank($"guess {i}", $"198.18.{i >> 8}.{i & 255}");
            Begun();
            _verdicts.Add(false, Token);
            Assert.False(await guess);
            _time.Advance(TimeSpan.FromMilliseconds(300));
        }

        var running = AskByRank("running", "198.18.0.0");
        Begun();
        var waiting = Enumerable.Range(1, HashLine.MaxPlaces).Select(i => AskByRank($"waits {i}", $"198.18.0.{i}")).ToList();
        var newcomer = AskByRank("newcomer", "192.0.2.1");
        Assert.Null(await waiting[^1]);
        _verdicts.Add(false, Token);

        Assert.Equal("newcomer", Begun());
        for (var i = 0; i < HashLine.MaxPlaces; i++)
            _verdicts.Add(true, Token);
        Assert.True(await newcomer);
        await Task.WhenAll([running, .. waiting]);
    }

    private string Begun() => _begun.Take(Token);

    private Task<bool?> AskByRank(string header, string from) =>
        Ask(header, from, _failures.Rank(CredentialKind.WebDav, Callers.At(from)));

    private Task<bool?> Ask(string header, string from, int rank = 0, CancellationToken? cancel = null, CredentialKind kind = CredentialKind.WebDav) =>
        _line.JudgeAsync(new HashAttempt(kind, _failures.Mark(header), () => Hash(header)), Callers.At(from), rank, cancel ?? Token).AsTask();

    private bool Hash(string header)
    {
        _begun.Add(header);
        return _verdicts.Take();
    }
}
