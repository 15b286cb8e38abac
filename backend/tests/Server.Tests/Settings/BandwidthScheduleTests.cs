using Sluice.Server.Settings;
using Xunit;

namespace Sluice.Server.Tests.Settings;

public sealed class BandwidthScheduleTests
{
    private static readonly DateTime Friday = new(2026, 1, 2, 0, 0, 0, DateTimeKind.Unspecified);

    [Theory]
    [InlineData("""[{"days":"mon-fri","from":"08:00","to":"23:00","mbps":200}]""", "08:00", 200.0)]
    [InlineData("""[{"days":"mon-fri","from":"08:00","to":"23:00","mbps":200}]""", "22:59", 200.0)]
    [InlineData("""[{"days":"mon-fri","from":"08:00","to":"23:00","mbps":200}]""", "23:00", null)]
    [InlineData("""[{"days":"mon-fri","from":"08:00","to":"23:00","mbps":200}]""", "07:59", null)]
    [InlineData("""[{"days":"sat,sun","from":"08:00","to":"23:00","mbps":200}]""", "12:00", null)]
    [InlineData("""[{"from":"8:00","to":"24:00","mbps":0}]""", "23:59", 0.0)]
    [InlineData("""[{"from":"22:00","to":"06:00","mbps":5}]""", "05:59", 5.0)]
    [InlineData("""[{"from":"22:00","to":"06:00","mbps":5}]""", "06:00", null)]
    [InlineData("""[{"days":"thu","from":"22:00","to":"06:00","mbps":5}]""", "05:59", 5.0)]
    [InlineData("""[{"days":"thu","from":"22:00","to":"06:00","mbps":5}]""", "22:00", null)]
    [InlineData("""[{"days":"fri","from":"22:00","to":"06:00","mbps":5}]""", "05:59", null)]
    [InlineData("""[{"days":"sat - mon, FRI","from":"00:00","to":"00:00","mbps":5}]""", "12:00", 5.0)]
    [InlineData("""[{"days":"thu-sat","from":"09:00","to":"10:00","mbps":1},{"from":"00:00","to":"00:00","mbps":2}]""", "09:30", 1.0)]
    [InlineData("""[{"days":"thu-sat","from":"09:00","to":"10:00","mbps":1},{"from":"00:00","to":"00:00","mbps":2}]""", "10:00", 2.0)]
    [InlineData("""[{"Days":"fri","FROM":"00:00","To":"00:00","Mbps":2.5,"note":"ignored"}]""", "10:00", 2.5)]
    [InlineData("[]", "10:00", null)]
    [InlineData("", "10:00", null)]
    public void First_row_covering_the_minute_applies(string text, string time, double? megabits)
    {
        var schedule = BandwidthSchedule.Read(text);
        Assert.NotNull(schedule);
        Assert.Equal(megabits is { } limit ? (long)(limit * 125_000) : null, schedule.At(Friday + TimeSpan.Parse(time, System.Globalization.CultureInfo.InvariantCulture)));
    }

    [Theory]
    [InlineData("{}")]
    [InlineData("[1]")]
    [InlineData("""[{"from":"08:00","to":"23:00"}]""")]
    [InlineData("""[{"from":"08:00","mbps":1}]""")]
    [InlineData("""[{"to":"08:00","mbps":1}]""")]
    [InlineData("""[{"from":"8","to":"23:00","mbps":1}]""")]
    [InlineData("""[{"from":"24:00","to":"23:00","mbps":1}]""")]
    [InlineData("""[{"from":"08:60","to":"23:00","mbps":1}]""")]
    [InlineData("""[{"from":800,"to":"23:00","mbps":1}]""")]
    [InlineData("""[{"from":"08:00","to":"23:00","mbps":-1}]""")]
    [InlineData("""[{"from":"08:00","to":"23:00","mbps":100001}]""")]
    [InlineData("""[{"from":"08:00","to":"23:00","mbps":"1"}]""")]
    [InlineData("""[{"days":"monday","from":"08:00","to":"23:00","mbps":1}]""")]
    [InlineData("""[{"days":"","from":"08:00","to":"23:00","mbps":1}]""")]
    [InlineData("""[{"days":["mon"],"from":"08:00","to":"23:00","mbps":1}]""")]
    [InlineData("""[{"from":"08:00","to":"23:00","mbps":1},""")]
    [InlineData("08:00")]
    public void Invalid_schedule_returns_null(string text) => Assert.Null(BandwidthSchedule.Read(text));

    [Fact]
    public void Schedule_rows_are_limited_in_number()
    {
        static string Rows(int count) => $"[{string.Join(',', Enumerable.Repeat("""{"from":"08:00","to":"23:00","mbps":1}""", count))}]";
        Assert.NotNull(BandwidthSchedule.Read(Rows(100)));
        Assert.Null(BandwidthSchedule.Read(Rows(101)));
    }
}
