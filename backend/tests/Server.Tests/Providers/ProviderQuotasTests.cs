using System.Globalization;
using System.Net;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Sluice.Server.Providers;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Xunit;

namespace Sluice.Server.Tests.Providers;

/// <summary>Data caps across restarts, resets and kills, and what a spent account means for viewers and imports (HLT-100 to HLT-106).</summary>
public sealed class ProviderQuotasTests : IDisposable
{
    private const int ArticleSize = 200_000;
    private const long Limit = 1_000_000_000;
    private const string Film = "/content/tv/Rel/film.mkv";

    private static readonly MockRelease Release = new("quota", 3, [new MockFile { Name = "film.mkv", Size = 20_000_000, ArticleSize = ArticleSize }]);

    private readonly TemporaryFolder _folder = new();

    // The clock of the counts alone: 3 January 2026, 10:00.
    private readonly ManualTimeProvider _clock = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Count_equals_the_bytes_sent_over_resets_restarts_and_a_kill()
    {
        await using var mock = await MockServer.StartAsync();
        await using (var host = await StartAsync(mock, """ "ByteLimit":1000000000,"ResetDay":5 """))
        {
            await PublishAsync(host);
            await ReadAsync(host, mock);
            AssertUsed(host, mock.Stats.Bytes);
        }

        // Two restarts and a film between them.
        await using (var host = await StartAsync(mock, """ "ByteLimit":1000000000,"ResetDay":5 """))
        {
            AssertUsed(host, mock.Stats.Bytes);
            await ReadAsync(host, mock);
            AssertUsed(host, mock.Stats.Bytes);
        }

        // The server is off when the period ends, and runs when the next one ends.
        _clock.SetWallClock(TimeSpan.FromDays(3));
        var before = mock.Stats.Bytes;
        using var killed = new TemporaryFolder();
        await using (var host = await StartAsync(mock, """ "ByteLimit":1000000000,"ResetDay":5 """))
        {
            Assert.InRange(Use(host).Used, 0, 10_000);
            await ReadAsync(host, mock, "bytes=0-9999999");
            await CheckAsync(host);
            AssertUsed(host, mock.Stats.Bytes - before);
            Assert.Equal(new DateOnly(2026, 2, 5), Use(host).NextReset);

            _clock.SetWallClock(TimeSpan.FromDays(31));
            var sent = mock.Stats.Bytes;
            await CheckAsync(host);
            Assert.Equal(new DateOnly(2026, 2, 5), Use(host).Period);
            await ReadAsync(host, mock, "bytes=10000000-19999999");
            await CheckAsync(host);
            await CheckAsync(host);
            Assert.True(mock.Stats.Bytes - sent > 9_000_000);
            AssertUsed(host, mock.Stats.Bytes - sent, 10_000);
            Copy(_folder.Root, killed.Root);
            before = sent;
        }

        await using var restarted = await StartAsync(mock, """ "ByteLimit":1000000000,"ResetDay":5 """, killed);
        AssertUsed(restarted, mock.Stats.Bytes - before, 10_000);
    }

    [Fact]
    public async Task Kill_adds_the_last_interval_as_an_estimate_once()
    {
        await using var mock = await MockServer.StartAsync();
        using var killed = new TemporaryFolder();
        long saved;
        await using (var host = await StartAsync(mock, """ "ByteLimit":1000000000 """))
        {
            await CheckAsync(host);
            await PublishAsync(host);
            await ReadAsync(host, mock);
            await CheckAsync(host);
            saved = Use(host).Used;
            Copy(_folder.Root, killed.Root);
        }

        Assert.InRange(saved, 20_000_000, 30_000_000);
        long once;
        await using (var host = await StartAsync(mock, """ "ByteLimit":1000000000 """, killed))
            once = Use(host).Used;
        Assert.InRange(once, saved * 2 * 0.99, (saved * 2) + 10_000);
        await using var again = await StartAsync(mock, """ "ByteLimit":1000000000 """, killed);
        Assert.InRange(Use(again).Used, once, once + 10_000);
    }

    [Fact]
    public async Task Clock_set_back_does_not_reset_twice()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await StartAsync(mock, """ "ByteLimit":1000000000,"ResetDay":4,"BytesUsedOffset":500,"BytesUsedResetAt":1767398400000 """);
        Assert.InRange(Use(host).Used, 500, 10_000);
        await ChargeAsync(host, 700_000_000);

        _clock.SetWallClock(TimeSpan.FromHours(14));
        await CheckAsync(host);
        await ChargeAsync(host, 300_000_000);
        _clock.SetWallClock(TimeSpan.FromDays(-2));
        await CheckAsync(host);
        _clock.SetWallClock(TimeSpan.FromDays(2));
        await CheckAsync(host);

        Assert.InRange(Use(host).Used, 300_000_000, 300_100_000);
        Assert.Equal(new DateOnly(2026, 1, 4), Use(host).Period);
    }

    [Theory]
    [InlineData("2026-03-08", "America/New_York")]
    [InlineData("2026-11-01", "America/New_York")]
    [InlineData("2026-10-25", "Europe/Berlin")]
    [InlineData("2026-09-06", "America/Santiago")]
    public async Task Reset_comes_once_at_local_midnight_of_a_clock_change(string day, string zone)
    {
        var reset = DateOnly.ParseExact(day, "yyyy-MM-dd", CultureInfo.InvariantCulture);
        var local = TimeZoneInfo.FindSystemTimeZoneById(zone);
        _clock.SetLocalTimeZone(local);
        var midnight = new DateTimeOffset(reset.ToDateTime(TimeOnly.MinValue), local.GetUtcOffset(reset.ToDateTime(TimeOnly.MinValue)));
        _clock.SetWallClock(midnight - TimeSpan.FromMinutes(1) - _clock.GetUtcNow());
        await using var mock = await MockServer.StartAsync();
        await using var host = await StartAsync(mock, string.Create(CultureInfo.InvariantCulture, $""" "ByteLimit":1000000000,"ResetDay":{reset.Day} """));
        await ChargeAsync(host, 700_000_000);

        var resets = 0;
        for (var minute = 0; minute < 36 * 60; minute += 20)
        {
            var before = Use(host).Used;
            _clock.SetWallClock(TimeSpan.FromMinutes(20));
            await CheckAsync(host);
            if (Use(host).Used < before)
            {
                resets++;
                await ChargeAsync(host, 100_000_000);
            }
        }

        Assert.Equal(1, resets);
    }

    [Fact]
    public async Task Two_refills_add_to_a_block_and_survive_a_restart()
    {
        await using var mock = await MockServer.StartAsync();
        await using (var host = await StartAsync(mock, """ "ByteLimit":1000000000 """))
        {
            await ChargeAsync(host, Limit);
            Assert.Equal(QuotaState.Spent, Use(host).State);
            Assert.True(await host.Get<ProviderQuotas>().RefillAsync(Account(host), 500_000_000, Token));
            Assert.True(await host.Get<ProviderQuotas>().RefillAsync(Account(host), 2_000_000_000, Token));
            Assert.False(await host.Get<ProviderQuotas>().RefillAsync(Guid.NewGuid(), 1, Token));
            Assert.False(await host.Get<ProviderQuotas>().RefillAsync(Account(host), ProviderJson.MaxBytes, Token));
        }

        await using var next = await StartAsync(mock, """ "ByteLimit":1000000000 """);
        Assert.Equal((3_500_000_000, QuotaState.Free), (Use(next).Limit, Use(next).State));
        Assert.InRange(Use(next).Used, Limit, Limit + 10_000);
    }

    [Fact]
    public async Task Spent_account_alone_answers_503_and_makes_imports_wait()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await StartAsync(mock, """ "ByteLimit":1000000000 """);
        await PublishAsync(host);
        mock.ChangeMissing(ArticleSelection.All);
        await ChargeAsync(host, Limit);
        var bodies = mock.Stats.CommandCount("BODY");

        using (var refused = await GetAsync(host, "bytes=9000000-9000100"))
            Assert.Equal(HttpStatusCode.ServiceUnavailable, refused.StatusCode);
        var other = MockRelease.Plain(8, 400_000, articleSize: 100_000);
        var id = Assert.Single(await host.AddAsync(other.ToNzb(), "Other.nzb", Token));
        await host.WaitForWaitingAsync(id, Token);
        Assert.Equal(bodies, mock.Stats.CommandCount("BODY"));

        mock.ChangeMissing(ArticleSelection.None);
        Assert.True(await host.Get<ProviderQuotas>().RefillAsync(Account(host), Limit, Token));
        Assert.Equal("Completed", (await host.WaitForHistoryAsync(id, Token)).GetProperty("status").GetString());
        using var served = await GetAsync(host, "bytes=9000000-9000100");
        Assert.Equal(HttpStatusCode.PartialContent, served.StatusCode);
    }

    [Fact]
    public async Task Each_warning_is_logged_once_per_period()
    {
        await using var mock = await MockServer.StartAsync();
        using var log = new LogLines(typeof(ProviderQuotas).FullName!);
        await using (var host = await StartAsync(mock, """ "ByteLimit":1000000000,"ResetDay":4 """, log: log))
        {
            await ChargeAsync(host, 790_000_000);
            await CheckAsync(host);
            await ChargeAsync(host, 20_000_000);
            await CheckAsync(host);
            Assert.Equal("mock has used 80 % of its data cap: 0.8 of 1.0 GB", await log.NextAsync(Token));
            await CheckAsync(host);
        }

        await using var next = await StartAsync(mock, """ "ByteLimit":1000000000,"ResetDay":4 """, log: log);
        await CheckAsync(next);
        await ChargeAsync(next, 150_000_000);
        await CheckAsync(next);
        Assert.Equal("mock has used 95 % of its data cap: 1.0 of 1.0 GB", await log.NextAsync(Token));
        await ChargeAsync(next, 40_000_000);
        await CheckAsync(next);
        Assert.StartsWith("mock has used up its data cap: 1.0 of 1.0 GB.", await log.NextAsync(Token), StringComparison.Ordinal);

        _clock.SetWallClock(TimeSpan.FromDays(1));
        await CheckAsync(next);
        await ChargeAsync(next, 810_000_000);
        await CheckAsync(next);
        Assert.Equal("mock has used 80 % of its data cap: 0.8 of 1.0 GB", await log.NextAsync(Token));
    }

    [Fact]
    public async Task New_cap_counts_what_was_recorded_before()
    {
        await using var mock = await MockServer.StartAsync();
        await using (var host = await StartAsync(mock, """ "Priority":0 """))
        {
            await PublishAsync(host);
            await ReadAsync(host, mock);
            Assert.Null(host.Get<ProviderQuotas>().Find(Account(host)));
        }

        await using var next = await StartAsync(mock, """ "ByteLimit":1000000000,"BytesUsedOffset":300000000 """);
        AssertUsed(next, mock.Stats.Bytes + 300_000_000);
    }

    private static Guid Account(ProductHost host) => host.Get<ProviderHost>().Providers[0].Account;

    private static QuotaUse Use(ProductHost host) => host.Get<ProviderQuotas>().Find(Account(host)) ?? throw new InvalidOperationException("The account has no cap.");

    private static void AssertUsed(ProductHost host, long sent, long logins = 0) => Assert.InRange(Use(host).Used, (sent * 0.999) - logins, (sent * 1.001) + logins);

    private async Task<ProductHost> StartAsync(MockServer mock, string quota, TemporaryFolder? folder = null, LogLines? log = null) => await ProductHost.StartAsync(
        folder ?? _folder,
        replace: services => services.AddSingleton(services => log is null
            ? ActivatorUtilities.CreateInstance<ProviderQuotas>(services, _clock)
            : ActivatorUtilities.CreateInstance<ProviderQuotas>(services, _clock, new Logger<ProviderQuotas>(log))),
        variables: [
            ("SLUICE_CONFIG__USENET__PROVIDERS", string.Create(CultureInfo.InvariantCulture, $$"""{"Providers":[{"Nickname":"mock","Host":"127.0.0.1","Port":{{mock.Port}},"UseSsl":false,"MaxConnections":4,"Type":1,{{quota}}}]}""")),
            ("SLUICE_CONFIG__USENET__SEGMENT_CACHE__ENABLED", "false")]);

    private static async Task PublishAsync(ProductHost host) =>
        await host.WaitForHistoryAsync(Assert.Single(await host.AddAsync(Release.ToNzb(), "Rel.nzb", Token, "&cat=tv")), Token);

    private static async Task ReadAsync(ProductHost host, MockServer mock, string range = "bytes=0-")
    {
        using (var answer = await GetAsync(host, range))
        {
            answer.EnsureSuccessStatusCode();
            await answer.Content.ReadAsByteArrayAsync(Token);
        }

        while (mock.Stats.Waiting > 0)
            await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, Token);
    }

    private static Task<HttpResponseMessage> GetAsync(ProductHost host, string range) => host.SendAsync(HttpMethod.Get, Film, null, Token, ("Range", range));

    /// <summary>Counts bytes as if they had been received.</summary>
    private static async Task ChargeAsync(ProductHost host, long bytes)
    {
        host.Get<ProviderHost>().AddCharged(Account(host), bytes);
        host.Get<ProviderHost>().OnQuotaChanged();
        await CheckAsync(host);
    }

    /// <summary>Runs one round of the worker, whose own clock stands still.</summary>
    private static Task CheckAsync(ProductHost host) => host.Get<ProviderQuotas>().CheckAsync(Token);

    /// <summary>Copies the data folder of a running server, as a kill would leave it.</summary>
    private static void Copy(string from, string to)
    {
        foreach (var file in Directory.EnumerateFiles(from, "*", SearchOption.AllDirectories).Where(static file => !file.EndsWith("sluice.lock", StringComparison.Ordinal)))
        {
            var target = Path.Combine(to, Path.GetRelativePath(from, file));
            Directory.CreateDirectory(Path.GetDirectoryName(target)!);
            File.Copy(file, target, overwrite: true);
        }
    }
}
