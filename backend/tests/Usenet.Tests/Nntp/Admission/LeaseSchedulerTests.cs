using Sluice.Usenet.Nntp;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

public sealed class LeaseSchedulerTests
{
    private const OperationLane Playback = OperationLane.Playback;
    private const OperationLane Import = OperationLane.Import;

    [Fact]
    public void Readers_get_equal_bytes_regardless_of_article_size()
    {
        var model = Model(connections: 2, depth: 1);
        for (var i = 0; i < 2; i++)
            model.Fetch(model.Pools[0], SchedulerModel.Request(Playback, "first", 1));
        for (var i = 0; i < 300; i++)
        {
            model.Fetch(model.Pools[0], SchedulerModel.Request(Playback, "greedy", 700_000));
            model.Fetch(model.Pools[0], SchedulerModel.Request(Playback, "small", 100_000));
        }

        model.Granted.Clear();
        for (var i = 0; i < 100; i++)
            model.Step();

        Assert.InRange(BytesOf(model, "greedy") / (double)BytesOf(model, "small"), 0.85, 1.15);
    }

    [Fact]
    public void Waiting_reader_overtakes_read_ahead_even_when_raised_later()
    {
        var model = Model(connections: 1, depth: 1);
        foreach (var reader in new[] { "a", "b", "c", "d" })
            model.Fetch(model.Pools[0], SchedulerModel.Request(Playback, reader));
        model.Raise(2);
        model.Fetch(model.Pools[0], SchedulerModel.Request(Playback, "now", isHeadOfLine: true));

        while (model.Step())
        {
        }

        Assert.Equal(["a", "d", "now", "b", "c"], model.Granted.Select(request => (string)request.Urgency!.Reader));
    }

    [Theory]
    [InlineData(20, 0)]
    [InlineData(20, 20)]
    [InlineData(2, 0)]
    [InlineData(1, 0)]
    public void F14_Background_stays_within_its_share_but_is_not_starved(int connections, int capacity)
    {
        var model = Model(connections, capacity);
        var pool = model.Pools[0];
        for (var i = 0; i < 400; i++)
            model.Fetch(pool, SchedulerModel.Request(Playback, "greedy"));
        for (var i = 0; i < 400; i++)
            model.Fetch(pool, SchedulerModel.Request(Import));

        var imports = 0;
        while (model.Now < TimeSpan.FromSeconds(4))
        {
            var before = model.Granted.Count;
            model.Step();
            imports += model.Granted.Skip(before).Count(request => request.Lane == Import);
            for (var i = before; i < model.Granted.Count; i++)
                model.Fetch(pool, model.Granted[i] with { });
            Assert.InRange(model.Limiter.InUse(Import), 0, Math.Max(1, connections / 5));
        }

        Assert.True(imports >= 3, $"{imports} imports in 4 s");
    }

    [Theory]
    [InlineData(1, 200_000)]
    [InlineData(8, 50_000)]
    public void F14_Stream_takes_80_percent_from_an_import_within_100_ms(int depth, int bytes)
    {
        var model = Model(connections: 20, depth: depth);
        var pool = model.Pools[0];
        for (var i = 0; i < 4000; i++)
            model.Fetch(pool, SchedulerModel.Request(Import, bytes: bytes));
        for (var i = 0; i < 5; i++)
            model.Step();
        var began = model.Now;
        for (var i = 0; i < 400; i++)
            model.Fetch(pool, SchedulerModel.Request(Playback, "reader"));

        while (model.Limiter.InUse(Playback) < 16)
            Assert.True(model.Step());

        Assert.InRange((model.Now - began).TotalMilliseconds, 0, 100);
        Assert.Equal(4, model.Limiter.InUse(Import));
    }

    [Fact]
    public void Import_gets_a_permit_when_playback_elsewhere_holds_all()
    {
        var model = new SchedulerModel(pools: 2, capacity: 3);
        for (var i = 0; i < 3; i++)
            model.Open(model.Pools[0]);
        model.Open(model.Pools[1]);
        for (var i = 0; i < 200; i++)
            model.Fetch(model.Pools[0], SchedulerModel.Request(Playback, "greedy"));
        model.Fetch(model.Pools[1], SchedulerModel.Request(Import));

        for (var i = 0; i < 12; i++)
            model.Step();

        Assert.Contains(model.Granted, request => request.Lane == Import);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Viewer_with_an_idle_connection_passes_a_blocked_import(bool isAlone)
    {
        var model = new SchedulerModel(pools: 2, capacity: 10);
        model.Limiter.Configure(10, streamingPriorityPercent: 80, importConnections: 1);
        model.Pools.ForEach(model.Open);
        model.Fetch(model.Pools[0], SchedulerModel.Request(Import));
        model.Fetch(model.Pools[1], SchedulerModel.Request(Import) with { IsAlone = isAlone });
        Assert.Single(model.Granted);

        model.Fetch(model.Pools[1], SchedulerModel.Request(Playback, "viewer", isHeadOfLine: true) with { IsAlone = isAlone });

        Assert.Equal([Import, Playback], model.Granted.Select(request => request.Lane));
    }

    [Fact]
    public void Draining_connection_does_not_count_for_the_next_seek()
    {
        var model = Model(connections: 1, depth: 4);
        var (pool, landing) = (model.Pools[0], SchedulerModel.Request(Playback, "seeking", isHeadOfLine: true));
        model.Fetch(pool, landing);
        Assert.Equal(0, pool.Scheduler.Lacking(4));

        pool.Scheduler.Open[0].Abandon();
        Assert.Equal(0, pool.Scheduler.Lacking(4));
        model.Fetch(pool, landing);
        Assert.Equal(1, pool.Scheduler.Lacking(4));

        pool.Scheduler.Open[0].UnwantedEnded();
        model.Step();
        Assert.Equal(0, pool.Scheduler.Lacking(4));
    }

    [Fact]
    public void Follow_up_connections_are_requested_before_and_during_a_seek()
    {
        var model = Model(connections: 0, depth: 4);
        var (pool, landing) = (model.Pools[0], SchedulerModel.Request(Playback, "reads on", isHeadOfLine: true, following: 7));
        model.Limiter.Allow(4);
        model.Fetch(pool, landing);
        Assert.Equal(4, pool.Scheduler.Lacking(4));
        model.Open(pool);
        Assert.Equal(3, pool.Scheduler.Lacking(4));
        model.Open(pool);
        Assert.Equal(2, pool.Scheduler.Lacking(4));

        // The reader has left, and the rest of its article is read only to keep the connection.
        pool.Scheduler.Open[0].Abandon();
        Assert.InRange(pool.Scheduler.Lacking(4), int.MinValue, 0);
        pool.Scheduler.Open[0].UnwantedEnded();
        model.Step();
        Assert.InRange(pool.Scheduler.Lacking(4), int.MinValue, 0);
    }

    [Fact]
    public void Withdrawn_fetch_requests_no_follow_up_connections()
    {
        var model = Model(connections: 0, depth: 4);
        model.Fetch(model.Pools[0], SchedulerModel.Request(Playback, "reads on", isHeadOfLine: true, following: 7));
        model.Withdraw(0);
        Assert.Equal(0, model.Pools[0].Scheduler.Lacking(4));
    }

    /// <summary>Random fetches, cancellations, lost connections and waits in 1 to 3 pools. In the end every fetch must have been served.</summary>
    [Fact]
    public void F15_100000_interleavings_lose_no_wake_up_and_starve_nobody()
    {
        const int Interleavings = 100_000;
        for (var seed = 0; seed < Interleavings; seed++)
        {
            try
            {
                Interleave(new Random(seed));
            }
            catch (Exception failure)
            {
                throw new InvalidOperationException($"Seed {seed}: {failure.Message}", failure);
            }
        }
    }

    private static void Interleave(Random random)
    {
        var model = new SchedulerModel(random.Next(1, 4), random.Next(1, 6), random.Next(1, 4));
        foreach (var pool in model.Pools)
            model.Open(pool);
        for (var step = 0; step < 40; step++)
        {
            var pool = model.Pools[random.Next(model.Pools.Count)];
            switch (random.Next(20))
            {
                case < 9:
                    var lane = (OperationLane)random.Next(3);
                    model.Fetch(pool, SchedulerModel.Request(lane, random.Next(3), random.Next(2) * 500_000, random.Next(4) == 0));
                    break;
                case < 14:
                    model.Step();
                    break;
                case 14 when model.Waiting.Count > 0:
                    model.Raise(random.Next(model.Waiting.Count));
                    break;
                case 15 when model.Waiting.Count > 0:
                    model.Withdraw(random.Next(model.Waiting.Count));
                    break;
                case 16 when pool.Scheduler.Open.Count > 1:
                    model.Kill(pool, pool.Scheduler.Open[random.Next(pool.Scheduler.Open.Count)]);
                    break;
                case < 19 when pool.Scheduler.Open.Count < 3:
                    model.Open(pool);
                    break;
                default:
                    model.Advance(TimeSpan.FromMilliseconds(random.Next(1500)));
                    break;
            }
        }

        model.Check();
        for (var last = model.Now; model.Waiting.Count > 0; last = model.Now)
        {
            Assert.True(model.Step(), $"{model.Waiting.Count} wait and nothing is under way.");
            Assert.True(model.Now - last < TimeSpan.FromSeconds(10), "No progress for 10 s.");
        }

        while (model.Step())
        {
        }

        model.Check();
    }

    private static SchedulerModel Model(int connections, int capacity = 0, int depth = 4)
    {
        var model = new SchedulerModel(1, capacity, depth);
        model.Limiter.Allow(connections);
        for (var i = 0; i < connections; i++)
            model.Open(model.Pools[0]);
        return model;
    }

    private static long BytesOf(SchedulerModel model, string reader) =>
        model.Granted.Where(request => (string)request.Urgency!.Reader == reader).Sum(request => request.ExpectedBytes);
}
