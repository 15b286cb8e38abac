using Sluice.Testing;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Memory;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>Which streams have a place, and which stream yields its place.</summary>
public sealed class StreamPlacesTests : IDisposable
{
    private const int Most = 4;

    private static readonly TimeSpan Second = StreamPlaces.LeastIdle;
    private static readonly TimeSpan Moment = TimeSpan.FromMilliseconds(100);

    private readonly ManualTimeProvider _time = new();
    private readonly StreamOptions _options = new() { WantedStreams = Most };
    private readonly StreamPlaces _places;
    private readonly List<string> _gaveUp = [];
    private readonly List<string> _entered = [];

    public StreamPlacesTests() => _places = new StreamPlaces(_options, _time);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _places.Dispose();

    [Fact]
    public async Task Reading_stream_is_never_evicted()
    {
        var reading = await FillAsync("a");
        var late = Open("b");
        var wait = late.BeginAsync(Token).AsTask();
        _time.Advance(TimeSpan.FromMinutes(10));
        Assert.False(wait.IsCompleted);
        Assert.Equal((Most, 1), (_places.Taken, _places.Waiting));

        reading[2].Dispose();
        await wait;
        Assert.Equal((Most, 0), (_places.Taken, _places.Waiting));
        Assert.Empty(_gaveUp);
    }

    [Fact]
    public async Task Longest_idle_stream_is_evicted_after_a_second()
    {
        var streams = await FillAsync("a");
        foreach (var number in (int[])[2, 0, 3, 1])
        {
            streams[number].End();
            _time.Advance(Moment);
        }

        // This stream reads again, so the others are idle for longer.
        await streams[2].BeginAsync(Token);
        streams[2].End();

        var wait = EnterAsync(Open("b"), "b");
        _time.Advance(Second - (4 * Moment));
        Assert.Empty(_gaveUp);
        _time.Advance(Moment);
        await wait;
        Assert.Equal(["a0"], _gaveUp);
        Assert.False(streams[0].IsHeld);

        // The next stream gets a place at once, because the second has passed.
        _time.Advance(Second);
        var third = Open("c").BeginAsync(Token).AsTask();
        Assert.True(third.IsCompletedSuccessfully);
        Assert.Equal(["a0", "a3"], _gaveUp);
    }

    [Fact]
    public async Task Evicted_stream_gets_a_slot_again_at_its_next_read()
    {
        var streams = await FillAsync("a");
        streams[0].End();
        _time.Advance(Second);
        var other = Open("b");
        await other.BeginAsync(Token);

        var again = streams[0].BeginAsync(Token).AsTask();
        Assert.False(again.IsCompleted);
        other.End();
        _time.Advance(Second);
        await again;
        Assert.True(streams[0].IsHeld);
        Assert.Equal(["a0", "b"], _gaveUp);
    }

    [Fact]
    public async Task Waiting_clients_get_free_slots_in_turn()
    {
        var streams = await FillAsync("x");
        string[] order = ["a1", "a2", "a3", "b1", "b2", "c1"];
        var waits = order.Select(name => EnterAsync(Open(name[..1], name), name)).ToList();
        foreach (var stream in streams)
            stream.Dispose();
        await UntilEnteredAsync(4);
        Assert.Equal(["a1", "b1", "c1", "a2"], _entered.Order(StringComparer.Ordinal).OrderBy(name => name[1]));
        Assert.Equal(2, _places.Waiting);
        Assert.Equal(4, waits.Count(wait => wait.IsCompleted));
    }

    [Fact]
    public async Task Client_holds_at_most_half_the_slots_while_others_wait()
    {
        // A lone client may have all places.
        var greedy = await FillAsync("a");
        Assert.Equal(Most, _places.Taken);
        var more = Open("a", "a4");
        _ = EnterAsync(more, "a4");
        _ = EnterAsync(Open("b"), "b");
        _ = EnterAsync(Open("c"), "c");
        Assert.Equal(3, _places.Waiting);

        // StreamPlaces gives a client no fourth place while another client waits, even if its read came first.
        greedy[0].Dispose();
        await UntilEnteredAsync(1);
        Assert.Equal(["b"], _entered);
        greedy[1].Dispose();
        await UntilEnteredAsync(2);
        Assert.Equal(["b", "c"], _entered);

        // No other client waits, so the limit of half the places does not apply.
        greedy[2].Dispose();
        await UntilEnteredAsync(3);
        Assert.Equal(["b", "c", "a4"], _entered);
    }

    [Fact]
    public async Task Waiting_streams_replace_the_longest_idle_ones_in_order()
    {
        var (mine, theirs) = (await FillAsync("a", 2), await FillAsync("b", 2));
        foreach (var stream in (StreamPlace[])[.. mine, .. theirs])
            stream.End();
        _ = EnterAsync(Open("a", "a+"), "a+");
        _ = EnterAsync(Open("b", "b+"), "b+");
        _time.Advance(Second);

        await UntilEnteredAsync(2);
        Assert.Equal(["a0", "a1"], _gaveUp);
        Assert.Equal([false, false, true, true], ((StreamPlace[])[.. mine, .. theirs]).Select(stream => stream.IsHeld));
    }

    [Fact]
    public async Task Canceled_wait_leaves_the_queue()
    {
        var streams = await FillAsync("a");
        using var cancel = new CancellationTokenSource();
        var (first, second) = (Open("b"), Open("b"));
        var canceled = first.BeginAsync(cancel.Token).AsTask();
        var patient = second.BeginAsync(Token).AsTask();
        Assert.True(first.IsWaiting);

        await cancel.CancelAsync();
        Assert.Equal(Most, (await Assert.ThrowsAsync<StreamLimitException>(() => canceled)).Limit);
        Assert.Equal((false, false, 1), (first.IsHeld, first.IsWaiting, _places.Waiting));
        streams[0].Dispose();
        await patient;

        streams[1].Dispose();
        await first.BeginAsync(Token);
        Assert.Equal(Most, _places.Taken);
    }

    [Fact]
    public async Task Slot_of_an_idle_stream_is_freed_after_half_a_minute()
    {
        var stream = (await FillAsync("a", 1))[0];
        stream.End();
        _time.Advance(_options.IdleDrop - Moment);
        Assert.True(stream.IsHeld);
        _time.Advance(Moment);
        Assert.False(stream.IsHeld);
        Assert.Equal((0, 0), (_places.Taken, _time.Alive));
        Assert.Equal(["a0"], _gaveUp);
    }

    [Fact]
    public async Task Lowered_limit_evicts_only_idle_streams()
    {
        var streams = await FillAsync("a");
        streams[3].End();
        _places.Configure(_options with { WantedStreams = 2 });
        var wait = Open("b").BeginAsync(Token).AsTask();
        _time.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal(["a3"], _gaveUp);
        Assert.Equal((3, false), (_places.Taken, wait.IsCompleted));

        streams[0].Dispose();
        Assert.False(wait.IsCompleted);
        streams[1].Dispose();
        await wait;
        Assert.Equal((2, 0), (_places.Taken, _places.Waiting));
    }

    [Fact]
    public async Task Thousand_streams_take_turns_without_loss()
    {
        var random = new Random(5);
        var streams = Enumerable.Range(0, 1000).Select(number => Open($"client {number % 7}")).ToArray();
        var reads = 0;
        var readers = streams.Select(async (stream, number) =>
        {
            for (var read = 0; read < 5; read++)
            {
                await stream.BeginAsync(Token);
                Assert.InRange(_places.Taken, 1, Most);
                Interlocked.Increment(ref reads);
                await Task.Yield();
                stream.End();
                if (number % 3 == 0)
                    await Task.Yield();
            }

            stream.Dispose();
        }).ToList();
        var all = Task.WhenAll(readers);
        while (!all.IsCompleted)
        {
            _time.Advance(Second);
            await Task.Yield();
        }

        await all;
        Assert.Equal((5000, 0, 0, 0), (reads, _places.Taken, _places.Waiting, _time.Alive));
        Assert.Equal(0, _places.Budget.Streams);
    }

    private StreamPlace Open(string client, string? name = null)
    {
        var known = name ?? client;
        return _places.Open(OperationLane.Playback, client, static () => { }, () =>
        {
            lock (_gaveUp)
                _gaveUp.Add(known);
        });
    }

    private async Task<StreamPlace[]> FillAsync(string client, int count = Most)
    {
        var streams = Enumerable.Range(0, count).Select(number => Open(client, $"{client}{number}")).ToArray();
        foreach (var stream in streams)
            await stream.BeginAsync(Token);
        return streams;
    }

    private async Task EnterAsync(StreamPlace place, string name)
    {
        await place.BeginAsync(Token);
        lock (_entered)
            _entered.Add(name);
    }

    private Task UntilEnteredAsync(int count) => Eventually.HoldsAsync(
        () =>
        {
            lock (_entered)
                return _entered.Count == count;
        },
        () => $"{_entered.Count} have entered instead of {count}",
        Token);
}
