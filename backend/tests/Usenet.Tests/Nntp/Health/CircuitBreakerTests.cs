using Sluice.Testing;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Health;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>The breaker against a reference model: random events on a virtual clock (F13).</summary>
public sealed class CircuitBreakerTests
{
    private const int Tolerated = 4;
    private static readonly TimeSpan FromRecoveryToUse = TimeSpan.FromSeconds(90);

    private readonly ManualTimeProvider _time = new();

    [Fact]
    public void F13_Recovered_provider_is_used_within_90_seconds() => Play(sequences: 10_000, events: 100);

    [Fact]
    [Trait("Category", "Long")]
    public void F13_A_million_sequences_all_recover_within_90_seconds() => Play(sequences: 1_000_000, events: 40);

    private void Play(int sequences, int events)
    {
        var seed = Environment.TickCount;
        TestContext.Current.TestOutputHelper?.WriteLine($"seed {seed}, {sequences * events:N0} events");
        var random = new Random(seed);
        for (var i = 0; i < sequences; i++)
        {
            var breaker = NewBreaker();
            var probes = new List<BreakerProbe>();
            for (var k = 0; k < events; k++)
                Happen(random, breaker, probes);

            // Probes that were never returned stay lost. From here on everything succeeds.
            var recovered = _time.GetTimestamp();
            while (breaker.State != BreakerState.Closed && breaker.TryProbe() is null)
                _time.Advance(TimeSpan.FromSeconds(1));
            Assert.True(_time.GetElapsedTime(recovered) <= FromRecoveryToUse, $"seed {seed}, sequence {i}: unused for {_time.GetElapsedTime(recovered)}");
        }
    }

    [Fact]
    public void F13_Each_trip_doubles_the_probes_needed_to_close()
    {
        var breaker = NewBreaker();
        for (var trip = 0; trip < 12; trip++)
        {
            Break(breaker);
            var probes = Recover(breaker);
            Assert.Equal(1 << Math.Min(trip, 5), probes);
        }
    }

    [Fact]
    public void Closed_event_fires_once_per_recovery_of_an_open_breaker()
    {
        var (breaker, closed) = (NewBreaker(), 0);
        breaker.Closed += () => closed++;
        breaker.Succeeded();
        breaker.Forget();
        Assert.Equal(0, closed);

        Break(breaker);
        Recover(breaker);
        Assert.Equal(1, closed);

        Break(breaker);
        breaker.Forget();
        Assert.Equal(2, closed);
    }

    [Theory]
    [InlineData(1.0)]
    [InlineData(0.9)]
    [InlineData(0.5)]
    public void F13_Lasting_fault_trips_at_most_six_times_an_hour(double faulty)
    {
        const int Hours = 20;
        var random = new Random(11);
        var breaker = NewBreaker();
        var flips = 0;
        for (var second = 0; second < Hours * 3600; second++)
        {
            var before = breaker.State;
            if (breaker.TryProbe() is { } probe)
            {
                using (probe)
                {
                    if (random.NextDouble() < faulty)
                        probe.Failed(Fault());
                    else
                        probe.Passed();
                }
            }
            else if (breaker.State == BreakerState.Closed)
            {
                // Ten fetches per second.
                for (var i = 0; i < 10 && breaker.State == BreakerState.Closed; i++)
                {
                    if (random.NextDouble() < faulty)
                        breaker.Failed(Fault());
                    else
                        breaker.Succeeded();
                }
            }

            if (before == BreakerState.Closed && breaker.State != BreakerState.Closed)
                flips++;
            _time.Advance(TimeSpan.FromSeconds(1));
        }

        Assert.True(flips >= 1, "it never opened");
        Assert.True(flips <= 6 * Hours, $"{flips} flips in {Hours} hours");
        Assert.True(faulty < 1 || flips == 1);
    }

    [Fact]
    public void F13_Only_one_probe_runs_and_an_unused_one_is_replaced()
    {
        var breaker = NewBreaker();
        Break(breaker);
        Assert.Null(breaker.TryProbe());
        _time.Advance(TimeSpan.FromSeconds(5));
        var probe = breaker.TryProbe();
        Assert.NotNull(probe);
        Assert.Equal(BreakerState.HalfOpen, breaker.State);
        Assert.Null(breaker.TryProbe());
        probe.Dispose();
        using var next = breaker.TryProbe();
        Assert.NotNull(next);

        // The verdict of a returned probe does not count.
        Assert.False(probe.Passed());
        Assert.Equal(BreakerState.HalfOpen, breaker.State);
        Assert.True(next.Passed());
        Assert.Equal(BreakerState.Closed, breaker.State);
    }

    [Fact]
    public void F13_The_cooldown_doubles_from_5_to_60_seconds()
    {
        var breaker = NewBreaker();
        Break(breaker);
        foreach (var seconds in new[] { 5, 10, 20, 40, 60, 60, 60 })
        {
            Assert.Equal(TimeSpan.FromSeconds(seconds), breaker.Rest);
            _time.Advance(TimeSpan.FromSeconds(seconds));
            using var probe = breaker.TryProbe();
            probe!.Failed(Fault());
        }
    }

    [Fact]
    public void F13_Only_consecutive_or_grave_faults_open_the_breaker()
    {
        var breaker = NewBreaker();
        for (var i = 0; i < 100; i++)
        {
            for (var k = 1; k < Tolerated; k++)
                breaker.Failed(Fault());
            breaker.Succeeded();
        }

        Assert.Equal(BreakerState.Closed, breaker.State);
        breaker.Failed(Fault(), atOnce: true);
        Assert.Equal(BreakerState.Open, breaker.State);

        // Results of fetches that began before it opened are ignored.
        breaker.Succeeded();
        breaker.Failed(Fault());
        Assert.Equal(BreakerState.Open, breaker.State);
    }

    private static NntpException Fault() => new(NntpFault.Stalled, "Nothing came.");

    private static void Break(CircuitBreaker breaker)
    {
        for (var i = 0; i < Tolerated; i++)
            breaker.Failed(Fault());
        Assert.Equal(BreakerState.Open, breaker.State);
    }

    private int Recover(CircuitBreaker breaker)
    {
        var probes = 0;
        while (breaker.State != BreakerState.Closed)
        {
            if (breaker.TryProbe() is not { } probe)
            {
                Assert.Equal(0, probes);
                _time.Advance(TimeSpan.FromSeconds(1));
                continue;
            }

            using (probe)
                probe.Passed();
            probes++;
        }

        return probes;
    }

    private void Happen(Random random, CircuitBreaker breaker, List<BreakerProbe> probes)
    {
        switch (random.Next(10))
        {
            case 0 or 1:
                breaker.Failed(Fault(), atOnce: random.Next(20) == 0);
                break;
            case 2:
                breaker.Succeeded();
                break;
            case 3 or 4:
                if (breaker.TryProbe() is { } probe)
                    probes.Add(probe);
                break;
            case 5 or 6 when probes.Count > 0:
                End(random, probes);
                break;
            default:
                _time.Advance(TimeSpan.FromMilliseconds(random.Next(15_000)));
                break;
        }

        Assert.True(breaker.Rest <= TimeSpan.FromSeconds(60));
        Assert.Equal(breaker.State == BreakerState.Closed, breaker.Failure is null);
    }

    /// <summary>Ends any probe with any result, even a probe that is no longer valid.</summary>
    private static void End(Random random, List<BreakerProbe> probes)
    {
        var at = random.Next(probes.Count);
        using var probe = probes[at];
        probes.RemoveAt(at);
        switch (random.Next(3))
        {
            case 0:
                probe.Failed(Fault());
                break;
            case 1:
                probe.Passed();
                break;
        }
    }

    private CircuitBreaker NewBreaker() => new(_time, Tolerated, TimeSpan.FromSeconds(5), TimeSpan.FromSeconds(60));
}
