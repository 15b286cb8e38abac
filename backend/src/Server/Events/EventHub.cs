using System.Threading.Channels;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Events;

/// <summary>
/// Streams events to clients (ADM-20 to ADM-23). Each frame is created once for all watchers, and only if there is at least one. Changes are kept for five
/// minutes, so that a client that reconnects in time continues after its last frame. Thread-safe. All watchers receive frames in numerical order.
/// </summary>
internal sealed class EventHub : IAsyncDisposable
{
    /// <summary>Minimum interval between two frames of a change topic. Changes in between share a frame.</summary>
    public static readonly TimeSpan FrameInterval = TimeSpan.FromMilliseconds(250);

    /// <summary>How long changes are kept, and how long recording continues after the last watcher leaves.</summary>
    public static readonly TimeSpan ReplayWindow = TimeSpan.FromMinutes(5);

    // Maximum bytes of kept frames. A busy import produces a few hundred KiB in five minutes.
    private const int MaxKeptBytes = 4 << 20;

    private static readonly TimeSpan PauseAfterFailure = TimeSpan.FromSeconds(1);

    // Guards the fields below and the runs. Topics begin and create frames under this lock, so they must not call back. Runs are canceled and clients dropped
    // outside the lock.
    private readonly Lock _gate = new();
    private readonly Dictionary<string, Run> _runs = [];
    private readonly Queue<KeptFrame> _kept = [];
    private long _keptBytes;
    private long _seq;

    // Number of the last evicted frame.
    private long _floor;
    private Task _ended = Task.CompletedTask;
    private bool _isClosed;

    private readonly IReadOnlyList<ITopic> _topics;
    private readonly IReadOnlyList<ITopicFamily> _families;
    private readonly TimeProvider _time;
    private readonly ILogger<EventHub> _logger;

    public EventHub(IEnumerable<ITopic> topics, IEnumerable<ITopicFamily> families, TimeProvider time, ILogger<EventHub> logger)
    {
        _topics = [.. topics];
        _families = [.. families];
        _time = time;
        _logger = logger;
        // Start at the current time, so that numbers grow across restarts unless the clock is set back.
        _seq = _floor = time.WallTime().ToUnixTimeMilliseconds();
    }

    /// <summary>Number of the last published change. Rows read later reflect all changes up to it.</summary>
    public long Seq
    {
        get
        {
            lock (_gate)
                return _seq;
        }
    }

    public bool Knows(string name) =>
        _topics.Any(topic => topic.Name == name) || _families.Any(family => name.Length > family.Prefix.Length && name.StartsWith(family.Prefix, StringComparison.Ordinal));

    /// <summary>Starts watching topics, which must exist and be distinct, from the client's position; null for a new client.</summary>
    public async Task<EventWatch> WatchAsync(IReadOnlyList<string> names, EventPlace? since, CancellationToken cancellationToken)
    {
        var (watch, at, topics, fresh) = Enter(names, since);
        try
        {
            foreach (var (topic, bit, seq) in fresh)
                watch.First.Add((new EventFrame(topic.Name, at, (await topic.SnapshotAsync(cancellationToken))(seq)), topics |= bit));
            return watch;
        }
        catch
        {
            watch.Dispose();
            throw;
        }
    }

    public void Leave(EventWatch watch)
    {
        List<Run> idle = [];
        lock (_gate)
        {
            foreach (var run in _runs.Values.Where(run => run.Watchers.Remove(watch) && run.Watchers.Count == 0).ToList())
            {
                if (run.Topic is IChangeTopic && !_isClosed)
                    run.Idle = _time.CreateTimer(_ => EndIdle(run), null, ReplayWindow, Timeout.InfiniteTimeSpan);
                else
                    idle.Add(End(run));
            }
        }

        foreach (var run in idle)
            run.Stop.Cancel();
    }

    public async ValueTask DisposeAsync()
    {
        List<Run> all = [];
        lock (_gate)
        {
            _isClosed = true;
            foreach (var run in _runs.Values.ToList())
                all.Add(End(run));
        }

        foreach (var run in all)
        {
            await run.Stop.CancelAsync();
            foreach (var watch in run.Watchers)
                watch.Drop();
        }

        await _ended;
    }

    /// <summary>
    /// Registers a watch. Returns the watch with its missed frames, its first frame number, the bits of topics that continue, and the bit and snapshot number
    /// of each new topic.
    /// </summary>
    private (EventWatch Watch, long At, ulong Topics, List<(ITopic Topic, ulong Bit, long Seq)> Fresh) Enter(IReadOnlyList<string> names, EventPlace? since)
    {
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_isClosed, this);
            Evict();
            var runs = names.Select(Open).ToList();
            var watch = new EventWatch(this, runs.Aggregate(0UL, (bits, run) => bits | run.Bit));
            var fresh = new List<(ITopic, ulong, long)>();
            var continued = new HashSet<Run>();
            foreach (var run in runs)
            {
                run.Watchers.Add(watch);
                if (since is { } id && (id.Topics & run.Bit) != 0 && id.Seq <= _seq && id.Seq >= _floor && id.Seq >= run.Since)
                    continued.Add(run);
                else
                    fresh.Add((run.Topic, run.Bit, run.Topic is IChangeTopic ? run.Last : _seq));
            }

            var topics = continued.Aggregate(0UL, (bits, run) => bits | run.Bit);
            watch.First.AddRange(_kept.Where(kept => kept.Frame.Seq > since?.Seq && continued.Contains(kept.Run)).Select(kept => (kept.Frame, topics)));
            return (watch, _seq, topics, fresh);
        }
    }

    /// <summary>Returns a topic's run and starts it if necessary.</summary>
    private Run Open(string name)
    {
        if (_runs.TryGetValue(name, out var run))
        {
            run.Idle?.Dispose();
            run.Idle = null;
            return run;
        }

        run = new Run(TopicOf(name));
        _runs[name] = run;
        if (run.Topic is IChangeTopic change)
        {
            run.Bit = 1UL << _topics.Index().First(topic => topic.Item == change).Index;
            // Changes before this point were not recorded, so clients must reload older pages.
            run.Since = run.Last = ++_seq;
            run.Recording = change.Begin(() => run.Signal.Writer.TryWrite(true));
            run.Running = Task.Run(() => FollowAsync(run, change, run.Stop.Token));
        }
        else if (run.Topic is ISampledTopic sampled)
        {
            run.Running = Task.Run(() => SampleAsync(run, sampled, run.Stop.Token));
        }

        return run;
    }

    private ITopic TopicOf(string name)
    {
        if (_topics.FirstOrDefault(topic => topic.Name == name) is { } known)
            return known;
        var family = _families.First(family => name.StartsWith(family.Prefix, StringComparison.Ordinal));
        return family.Of(name[family.Prefix.Length..]);
    }

    /// <summary>Ends a run. The caller cancels the run's token after releasing _gate.</summary>
    private Run End(Run run)
    {
        _runs.Remove(run.Topic.Name);
        run.Idle?.Dispose();
        run.Recording?.Dispose();
        _ended = _ended.IsCompleted ? run.Running : Task.WhenAll(_ended, run.Running);
        return run;
    }

    private void EndIdle(Run run)
    {
        lock (_gate)
        {
            if (run.Watchers.Count > 0 || _runs.GetValueOrDefault(run.Topic.Name) != run)
                return;
            End(run);
        }

        run.Stop.Cancel();
    }

    /// <summary>Publishes the first change immediately. Changes within <see cref="FrameInterval"/> after it share the next frame.</summary>
    private async Task FollowAsync(Run run, IChangeTopic topic, CancellationToken stop)
    {
        try
        {
            while (await run.Signal.Reader.ReadAsync(stop))
            {
                if (await TryAsync(run, async () => await topic.TakeAsync(stop), stop) is not { } maker)
                    continue;
                Publish(run, maker);
                await Task.Delay(FrameInterval, _time, stop);
            }
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested)
        {
            // The last watcher has left.
        }
    }

    private async Task SampleAsync(Run run, ISampledTopic topic, CancellationToken stop)
    {
        try
        {
            await Task.Delay(UntilNext(topic.Interval), _time, stop);
            using var timer = new PeriodicTimer(topic.Interval, _time);
            do
            {
                if (await TryAsync(run, async () => await topic.SampleAsync(stop), stop) is { } maker)
                    Publish(run, maker);
            }
            while (await timer.WaitForNextTickAsync(stop));
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested)
        {
            // The last watcher has left.
        }
    }

    /// <summary>Returns the time to the next whole interval, so that a client of several topics gets all samples together and redraws once.</summary>
    private TimeSpan UntilNext(TimeSpan interval) => interval - TimeSpan.FromTicks(_time.GetElapsedTime(0).Ticks % interval.Ticks);

    /// <summary>If the topic fails, drops its watchers, because they may have missed changes and must start over.</summary>
    private async Task<FrameMaker?> TryAsync(Run run, Func<Task<FrameMaker?>> make, CancellationToken stop)
    {
        try
        {
            return await make();
        }
        catch (Exception e) when (!stop.IsCancellationRequested)
        {
            EventsLog.TopicFailed(_logger, e, run.Topic.Name);
            List<EventWatch> watchers;
            lock (_gate)
            {
                if (run.Topic is IChangeTopic)
                    run.Since = run.Last = ++_seq;
                watchers = [.. run.Watchers];
            }

            foreach (var watch in watchers)
                watch.Drop();
            await Task.Delay(PauseAfterFailure, _time, stop);
            return null;
        }
    }

    private void Publish(Run run, FrameMaker maker)
    {
        List<EventWatch> slow = [];
        lock (_gate)
        {
            var isChange = run.Topic is IChangeTopic;
            if (isChange)
                run.Last = ++_seq;
            var frame = new EventFrame(run.Topic.Name, _seq, maker(_seq));
            if (isChange)
            {
                _kept.Enqueue(new KeptFrame(run, frame, _time.GetTimestamp()));
                _keptBytes += frame.Json.Length;
                Evict();
            }

            slow.AddRange(run.Watchers.Where(watch => !watch.Offer(frame)));
        }

        foreach (var watch in slow)
            watch.Drop();
    }

    private void Evict()
    {
        while (_kept.TryPeek(out var oldest) && (_keptBytes > MaxKeptBytes || _time.GetElapsedTime(oldest.At) > ReplayWindow))
        {
            _kept.Dequeue();
            _keptBytes -= oldest.Frame.Json.Length;
            _floor = oldest.Frame.Seq;
        }
    }

    private readonly record struct KeptFrame(Run Run, EventFrame Frame, long At);

    /// <summary>A topic with current or recent watchers.</summary>
    private sealed class Run(ITopic topic)
    {
        public ITopic Topic => topic;

        public List<EventWatch> Watchers { get; } = [];

        public CancellationTokenSource Stop { get; } = new();

        public Channel<bool> Signal { get; } =
            Channel.CreateBounded<bool>(new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropWrite, SingleReader = true });

        /// <summary>The topic's bit in frame ids; 0 for a sampled topic, which always starts with a snapshot.</summary>
        public ulong Bit { get; set; }

        /// <summary>Number since which no change was missed.</summary>
        public long Since { get; set; }

        /// <summary>Number of the topic's last change.</summary>
        public long Last { get; set; }

        public Task Running { get; set; } = Task.CompletedTask;

        public IDisposable? Recording { get; set; }

        public ITimer? Idle { get; set; }
    }
}
