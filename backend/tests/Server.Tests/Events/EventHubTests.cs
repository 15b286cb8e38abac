using System.Text;
using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Server.Events;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Events;

/// <summary>Frames of topics (ADM-21 to ADM-23), with a manual clock.</summary>
public sealed class EventHubTests : IAsyncDisposable
{
    private readonly ManualTimeProvider _time = new();
    private readonly CountedTopic _changes = new("queue");
    private readonly CountedTopic _others = new("history");
    private readonly SampledTopic _samples = new();
    private readonly SampledFamily _family = new();
    private readonly EventHub _hub;

    public EventHubTests() => _hub = new EventHub([_changes, _others, _samples], [_family], _time, NullLogger<EventHub>.Instance);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public ValueTask DisposeAsync() => _hub.DisposeAsync();

    [Fact]
    public async Task Client_begins_with_one_snapshot_of_each_topic()
    {
        using var watch = await _hub.WatchAsync(["queue", "stats"], null, Token);

        Assert.Equal(["queue snapshot", "stats 1"], watch.First.Select(Text));
        Assert.All(watch.First, first => Assert.Equal(_hub.Seq, first.Frame.Seq));
    }

    [Fact]
    public async Task First_change_is_sent_at_once_and_later_ones_are_batched()
    {
        using var watch = await _hub.WatchAsync(["queue"], null, Token);
        _changes.Change();
        Assert.Equal("queue +1", await ReadAsync(watch));

        await UntilAsync(() => _time.Waiting == 1);
        _changes.Change();
        _changes.Change();
        _changes.Change();
        _time.Advance(EventHub.FrameInterval - TimeSpan.FromMilliseconds(1));
        Assert.False(watch.HasMore);
        _time.Advance(TimeSpan.FromMilliseconds(1));

        Assert.Equal("queue +3", await ReadAsync(watch));
        Assert.Equal(2, _changes.Takes);
    }

    [Fact]
    public async Task Hub_without_watchers_does_no_work()
    {
        for (var second = 0; second < 60; second++)
            _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal((0, 0, 0), (_changes.Begins, _changes.Takes, _samples.Samples));

        var watch = await _hub.WatchAsync(["queue", "stats", "stream:7"], null, Token);
        await UntilAsync(() => _time.Waiting == 2);
        watch.Dispose();
        await UntilAsync(() => _time.Waiting == 1);
        var (samples, family) = (_samples.Samples, _family.Samples);

        _time.Advance(EventHub.ReplayWindow);
        await UntilAsync(() => _changes.Ends == 1);
        _changes.Change();
        for (var second = 0; second < 60; second++)
            _time.Advance(TimeSpan.FromSeconds(1));

        Assert.Equal((samples, family, 0, 0), (_samples.Samples, _family.Samples, _changes.Takes, _time.Alive));
    }

    [Fact]
    public async Task Sample_is_taken_once_for_all_watchers()
    {
        var watches = new List<EventWatch>();
        for (var i = 0; i < 100; i++)
            watches.Add(await _hub.WatchAsync(["stats"], null, Token));
        var before = _samples.Samples;
        await UntilAsync(() => _time.Waiting == 1);

        _time.Advance(_samples.Interval);

        foreach (var watch in watches)
            Assert.Equal($"stats {before + 1}", await ReadAsync(watch));
        Assert.Equal(before + 1, _samples.Samples);
        watches.ForEach(watch => watch.Dispose());
    }

    [Fact]
    public async Task Reconnect_within_the_replay_window_misses_nothing()
    {
        var watch = await _hub.WatchAsync(["queue"], null, Token);
        await ChangeAsync();
        var last = (await watch.ReadAsync(Token))!;
        watch.Dispose();
        await ChangeAsync();
        await ChangeAsync();
        _time.Advance(EventHub.ReplayWindow - TimeSpan.FromSeconds(2));

        using var again = await _hub.WatchAsync(["queue", "stats"], EventPlace.Read(new EventPlace(last.Seq, watch.Topics).ToString()), Token);

        Assert.Equal(["queue +1", "queue +1", "stats 1"], again.First.Select(Text));
        Assert.Equal(again.First.Take(2).Select(first => first.Frame.Seq).Order(), again.First.Take(2).Select(first => first.Frame.Seq));
    }

    [Fact]
    public async Task Reconnect_after_the_replay_window_gets_a_snapshot()
    {
        var watch = await _hub.WatchAsync(["queue"], null, Token);
        await ChangeAsync();
        var last = (await watch.ReadAsync(Token))!;
        await ChangeAsync();
        _time.Advance(EventHub.ReplayWindow + TimeSpan.FromSeconds(1));

        using var again = await _hub.WatchAsync(["queue"], new EventPlace(last.Seq, watch.Topics), Token);

        Assert.Equal(["queue snapshot"], again.First.Select(Text));
        watch.Dispose();
    }

    [Fact]
    public async Task Reconnect_after_unrecorded_changes_gets_a_newer_snapshot()
    {
        var watch = await _hub.WatchAsync(["queue"], null, Token);
        var place = new EventPlace(_hub.Seq, watch.Topics);
        watch.Dispose();
        _time.Advance(EventHub.ReplayWindow);
        await UntilAsync(() => _changes.Ends == 1);
        _changes.Change();
        var page = _hub.Seq;

        using var again = await _hub.WatchAsync(["queue"], place, Token);

        Assert.Equal(["queue snapshot"], again.First.Select(Text));
        // A page loaded before is older than the snapshot, so it reloads.
        Assert.True(again.First[0].Frame.Seq > page);
    }

    [Fact]
    public async Task Newly_followed_topic_starts_with_a_snapshot()
    {
        var watch = await _hub.WatchAsync(["queue"], null, Token);
        var place = new EventPlace(_hub.Seq, watch.Topics);
        await ChangeAsync();
        watch.Dispose();

        using var both = await _hub.WatchAsync(["queue", "history"], place, Token);

        Assert.Equal(["queue +1", "history snapshot"], both.First.Select(Text));
    }

    [Fact]
    public async Task Reconnect_sends_only_the_snapshot_still_missing()
    {
        var watch = await _hub.WatchAsync(["queue", "history"], null, Token);
        var (frame, topics) = watch.First[0];
        watch.Dispose();

        using var again = await _hub.WatchAsync(["queue", "history"], new EventPlace(frame.Seq, topics), Token);

        Assert.Equal(["history snapshot"], again.First.Select(Text));
        Assert.Equal(watch.Topics, again.First[0].Topics);
    }

    [Theory]
    [InlineData("1.1")]
    [InlineData("99999999999999.1")]
    [InlineData("no number")]
    [InlineData("")]
    public async Task Unknown_position_gets_a_snapshot(string id)
    {
        using var watch = await _hub.WatchAsync(["queue"], null, Token);
        using var again = await _hub.WatchAsync(["queue"], EventPlace.Read(id), Token);

        Assert.Equal(["queue snapshot"], again.First.Select(Text));
    }

    [Fact]
    public async Task Client_not_reading_is_dropped_and_others_are_kept()
    {
        using var slow = await _hub.WatchAsync(["queue"], null, Token);
        using var quick = await _hub.WatchAsync(["queue"], null, Token);
        _changes.Size = EventWatch.MaxWaiting / 4;
        var seen = 0;
        while (!slow.Dropped.IsCancellationRequested)
        {
            await ChangeAsync();
            Assert.NotNull(await quick.ReadAsync(Token));
            seen++;
        }

        // Four frames are 64 KiB, so the fifth exceeds the limit of the slow client.
        Assert.Equal(5, seen);
        Assert.False(quick.Dropped.IsCancellationRequested);
        await ChangeAsync();
        Assert.NotNull(await quick.ReadAsync(Token));
    }

    [Fact]
    public async Task Frame_above_the_buffer_limit_reaches_a_reading_client()
    {
        using var watch = await _hub.WatchAsync(["queue"], null, Token);
        _changes.Size = EventWatch.MaxWaiting * 2;
        await ChangeAsync();

        Assert.Equal(EventWatch.MaxWaiting * 2, (await watch.ReadAsync(Token))!.Json.Length);
    }

    [Fact]
    public async Task Failing_topic_drops_its_clients_and_sends_a_new_snapshot()
    {
        using var watch = await _hub.WatchAsync(["queue"], null, Token);
        var place = new EventPlace(_hub.Seq, watch.Topics);
        _changes.Failure = new IOException("Below.");
        _changes.Change();

        await UntilAsync(() => watch.Dropped.IsCancellationRequested);
        _changes.Failure = null;
        using var again = await _hub.WatchAsync(["queue"], place, Token);

        Assert.Equal(["queue snapshot"], again.First.Select(Text));
    }

    [Fact]
    public async Task Failed_snapshot_leaves_no_watcher_behind()
    {
        _changes.Failure = new IOException("Below.");

        await Assert.ThrowsAsync<IOException>(async () => await _hub.WatchAsync(["stats", "queue"], null, Token));

        await UntilAsync(() => _time.Waiting == 1);
        _time.Advance(EventHub.ReplayWindow);
        await UntilAsync(() => _time.Alive == 0);
    }

    [Fact]
    public void Topic_names_are_matched_exactly() =>
        Assert.Equal(
            [true, true, true, false, false, false],
            ((string[])["queue", "stats", "stream:7", "stream:", "streams", "QUEUE"]).Select(_hub.Knows));

    private static string Text((EventFrame Frame, ulong Topics) first) => Text(first.Frame);

    private static string Text(EventFrame frame) => $"{frame.Topic} {Encoding.UTF8.GetString(frame.Json.Span).Trim()}";

    private static async Task<string> ReadAsync(EventWatch watch) => Text((await watch.ReadAsync(Token))!);

    /// <summary>Makes a change and waits until its frame has been sent.</summary>
    private async Task ChangeAsync()
    {
        var (takes, waiting) = (_changes.Takes, _time.Waiting);
        _changes.Change();
        await UntilAsync(() => _changes.Takes > takes && _time.Waiting > waiting);
        _time.Advance(EventHub.FrameInterval);
    }

    private static async Task UntilAsync(Func<bool> condition)
    {
        while (!condition())
        {
            Token.ThrowIfCancellationRequested();
            await Task.Yield();
        }
    }

    private static FrameMaker Frame(string text) => _ => Encoding.UTF8.GetBytes(text);

    private sealed class CountedTopic(string name) : IChangeTopic
    {
        private Action? _changed;
        private int _count;
        private int _takes;

        public string Name => name;

        public int Begins { get; private set; }

        public int Ends { get; private set; }

        public int Takes => Volatile.Read(ref _takes);

        public int Size { get; set; }

        public Exception? Failure { get; set; }

        public void Change()
        {
            Interlocked.Increment(ref _count);
            _changed?.Invoke();
        }

        public IDisposable Begin(Action changed)
        {
            Begins++;
            Interlocked.Exchange(ref _count, 0);
            _changed = changed;
            return new Ending(this);
        }

        public ValueTask<FrameMaker> SnapshotAsync(CancellationToken cancellationToken) =>
            Failure is { } failure ? throw failure : new(Frame("snapshot"));

        public ValueTask<FrameMaker?> TakeAsync(CancellationToken cancellationToken)
        {
            if (Failure is { } failure)
                throw failure;
            var count = Interlocked.Exchange(ref _count, 0);
            Interlocked.Increment(ref _takes);
            return count == 0 ? new((FrameMaker?)null) : new(Frame($"+{count}".PadRight(Size)));
        }

        private sealed class Ending(CountedTopic topic) : IDisposable
        {
            public void Dispose()
            {
                topic._changed = null;
                topic.Ends++;
            }
        }
    }

    private sealed class SampledTopic : ISampledTopic
    {
        private int _samples;

        public string Name { get; init; } = "stats";

        public TimeSpan Interval => TimeSpan.FromSeconds(1);

        public int Samples => Volatile.Read(ref _samples);

        public ValueTask<FrameMaker> SnapshotAsync(CancellationToken cancellationToken) => SampleAsync(cancellationToken);

        public ValueTask<FrameMaker> SampleAsync(CancellationToken cancellationToken) => new(Frame($"{Interlocked.Increment(ref _samples)}"));
    }

    private sealed class SampledFamily : ITopicFamily
    {
        private readonly List<SampledTopic> _made = [];

        public string Prefix => "stream:";

        public int Samples => _made.Sum(topic => topic.Samples);

        public ITopic Of(string id)
        {
            var topic = new SampledTopic { Name = Prefix + id };
            _made.Add(topic);
            return topic;
        }
    }
}
