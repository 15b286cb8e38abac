using Sluice.Server.Providers;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Auth;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Providers;

/// <summary>The bandwidth limit in force, by a manual clock (STR-14).</summary>
public sealed class BandwidthLimitTests : IDisposable
{
    private const long Megabit = BandwidthSchedule.BytesOfMegabit;
    private const string Evening = """[{"days":"sat","from":"18:00","to":"23:30","mbps":20},{"days":"sat","from":"23:30","to":"06:00","mbps":0}]""";

    // Starts on a Saturday at 10:00 UTC.
    private readonly ManualTimeProvider _time = new();
    private readonly FixedOptions<UsenetOptions> _usenet = new(Usenet());
    private readonly FixedOptions<QueueOptions> _queue = new(Queue());
    private BandwidthLimit? _limit;

    public void Dispose() => _limit?.Dispose();

    [Fact]
    public void Schedule_changes_the_limit_on_the_minute()
    {
        _usenet.Change(Usenet(("usenet.bandwidth-limit-mbps", "50"), ("usenet.bandwidth-schedule", Evening)));
        var limit = Start();
        Assert.Equal(50 * Megabit, limit.Current);

        _time.Advance(TimeSpan.FromHours(8) - TimeSpan.FromTicks(1));
        Assert.Equal(50 * Megabit, limit.Current);
        _time.Advance(TimeSpan.FromTicks(1));
        Assert.Equal(20 * Megabit, limit.Current);

        _time.Advance(TimeSpan.FromHours(5.5) - TimeSpan.FromTicks(1));
        Assert.Equal(20 * Megabit, limit.Current);
        _time.Advance(TimeSpan.FromTicks(1));
        Assert.Equal(0, limit.Current);

        _time.Advance(TimeSpan.FromHours(6.5));
        Assert.Equal(50 * Megabit, limit.Current);
    }

    [Fact]
    public void Schedule_follows_the_local_wall_clock()
    {
        _time.SetLocalTimeZone(TimeZoneInfo.CreateCustomTimeZone("test", TimeSpan.FromHours(8), "test", "test"));
        _usenet.Change(Usenet(("usenet.bandwidth-schedule", Evening)));
        var limit = Start();
        Assert.Equal(20 * Megabit, limit.Current);

        // A changed clock is noticed within a minute.
        _time.SetWallClock(TimeSpan.FromHours(-1));
        _time.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal(0, limit.Current);
    }

    [Theory]
    [InlineData("0", "0", 0)]
    [InlineData("20", "0", 2_500_000)]
    [InlineData("0", "400", 409_600)]
    [InlineData("20", "400", 409_600)]
    [InlineData("1", "400", 125_000)]
    public void Lower_of_settings_limit_and_client_limit_applies(string configured, string kept, long expected)
    {
        var limit = Start();
        _usenet.Change(Usenet(("usenet.bandwidth-limit-mbps", configured)));
        _queue.Change(Queue(("queue.speed-limit-kbps", kept)));
        Assert.Equal(expected, limit.Current);

        // Without a schedule, no timer checks the clock.
        Assert.InRange(_time.Waiting, 0, 1);
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(0, _time.Waiting);
    }

    [Fact]
    public void Client_limit_applies_while_the_schedule_lifts_the_other()
    {
        _usenet.Change(Usenet(("usenet.bandwidth-limit-mbps", "50"), ("usenet.bandwidth-schedule", """[{"from":"00:00","to":"24:00","mbps":0}]""")));
        _queue.Change(Queue(("queue.speed-limit-kbps", "400")));
        var limit = Start();
        Assert.Equal((409_600, 50 * Megabit), (limit.Current, limit.Configured));
        _queue.Change(Queue());
        Assert.Equal(0, limit.Current);
    }

    private BandwidthLimit Start() => _limit = new BandwidthLimit(_usenet, _queue, _time);

    private static UsenetOptions Usenet(params (string Key, string Value)[] settings) => UsenetOptions.Read(Resolve(settings));

    private static QueueOptions Queue(params (string Key, string Value)[] settings) => QueueOptions.Read(Resolve(settings));

    private static EffectiveSettings Resolve((string Key, string Value)[] settings) =>
        new SettingsResolver(SettingSchema.All, new ProcessEnvironment(new Dictionary<string, string>()))
            .Resolve(settings.ToDictionary(setting => setting.Key, setting => setting.Value));
}
