using Dapper;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Database;
using Sluice.Server.Providers;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Xunit;

namespace Sluice.Server.Tests.Providers;

/// <summary>Usage is stored per provider and day (SAB-46).</summary>
public sealed class ProviderUsageTests : IDisposable
{
    private static readonly MockRelease Film = new("usage", 1, [new MockFile { Name = "film.mkv", Size = 300_000, ArticleSize = 20_000 }]);

    private readonly TemporaryFolder _folder = new();
    private readonly Calendar _time = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Usage_per_provider_is_counted_and_survives_a_restart()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions
        {
            Providers = [new MockProvider { Missing = ArticleSelection.All }, new MockProvider()],
        });
        string stats;
        await using (var host = await StartAsync(mock))
        {
            await host.WaitForHistoryAsync(Assert.Single(await host.AddAsync(Film.ToNzb(), "Rel.nzb", Token)), Token);
            var usage = host.Get<ProviderUsage>();
            stats = (await host.CallAsync("mode=server_stats", Token)).ToString();
            var servers = (await host.CallAsync("mode=server_stats", Token)).GetProperty("servers");

            // The first and the last article of the film.
            Assert.Equal("""{"2026-01-03":2}""", servers.GetProperty("mock0").GetProperty("articles_tried").ToString());
            Assert.Equal("""{"2026-01-03":0}""", servers.GetProperty("mock0").GetProperty("articles_success").ToString());
            Assert.Equal("""{"2026-01-03":2}""", servers.GetProperty("mock1").GetProperty("articles_success").ToString());
            Assert.InRange(servers.GetProperty("mock1").GetProperty("day").GetInt64(), 20_000, 100_000);
            Assert.Equal(usage.Sum().Total, servers.EnumerateObject().Sum(server => server.Value.GetProperty("total").GetInt64()));
            Assert.EndsWith(" K", (await host.CallAsync("mode=history", Token)).GetProperty("history").GetProperty("day_size").GetString(), StringComparison.Ordinal);
        }

        await using var next = await StartAsync(mock);
        Assert.Equal(WithoutLogins(stats), WithoutLogins((await next.CallAsync("mode=server_stats", Token)).ToString()));

        static string WithoutLogins(string text) => System.Text.RegularExpressions.Regex.Replace(text, @"(?<=""(total|month|week|day)"":|daily"":\{""2026-01-03"":)\d+", "n");
    }

    [Fact]
    public async Task Purpose_of_the_bytes_survives_a_restart()
    {
        await using var mock = await MockServer.StartAsync();
        ProviderUse before;
        await using (var host = await StartAsync(mock))
        {
            await host.WaitForHistoryAsync(Assert.Single(await host.AddAsync(Film.ToNzb(), "Rel.nzb", Token)), Token);
            before = Assert.Single(host.Get<ProviderUsage>().TotalsById()).Value.Total;
        }

        Assert.True(before.Lanes is { Playback: 0, Import: > 20_000, Other: > 0 }, before.Lanes.ToString());
        await using var next = await StartAsync(mock);
        var after = Assert.Single(next.Get<ProviderUsage>().TotalsById()).Value.Total;
        Assert.Equal(before.Lanes with { Other = 0 }, after.Lanes with { Other = 0 });
        Assert.InRange(after.Lanes.Other, before.Lanes.Other, long.MaxValue);
    }

    [Fact]
    public async Task Usage_periods_follow_the_server_time_zone()
    {
        // Saturday, 3 January 2026, 23:30 in a time zone two hours ahead.
        await using var host = await ProductHost.StartAsync(_folder, null, services => services.AddSingleton<TimeProvider>(_time));
        (string Day, long Bytes)[] days = [("2025-12-31", 1), ("2025-12-29", 10), ("2025-12-28", 100), ("2026-01-01", 1000), ("2026-01-03", 10_000), ("2026-01-09", 100_000), ("odd", 5)];
        await host.Get<SluiceDatabase>().WriteAsync(
            connection =>
            {
                foreach (var (day, bytes) in days)
                {
                    connection.Execute(
                        "INSERT INTO provider_usage (provider, day, bytes, tried, found) VALUES ('00000000-0000-0000-0000-000000000001', @day, @bytes, 1, 1)",
                        new { day, bytes });
                }

                return connection.Execute("INSERT INTO provider_usage (provider, day, bytes, tried, found) VALUES ('odd', '2026-01-03', 5, 1, 1)");
            },
            Token);

        await using var providers = new Loaded(host, _time);
        await providers.Usage.RestoreAsync(Token);

        Assert.Equal(new UsageSums(111_111, 111_000, 11_011, 10_000), providers.Usage.Sum());
        _time.Now = _time.Now.AddHours(1);
        Assert.Equal(new UsageSums(111_111, 111_000, 11_011, 0), providers.Usage.Sum());
        _time.Now = _time.Now.AddDays(1);
        Assert.Equal(new UsageSums(111_111, 111_000, 0, 0), providers.Usage.Sum());
    }

    [Fact]
    public async Task Unsaved_counts_are_written_with_the_next_save()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await StartAsync(mock);
        await host.WaitForHistoryAsync(Assert.Single(await host.AddAsync(Film.ToNzb(), "Rel.nzb", Token)), Token);
        var (usage, database) = (host.Get<ProviderUsage>(), host.Get<SluiceDatabase>());
        var total = usage.Sum().Total;
        using var gone = new CancellationTokenSource();
        await gone.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => usage.SaveAsync(gone.Token));
        await usage.SaveAsync(Token);
        await usage.SaveAsync(Token);

        Assert.Equal(total, await database.ReadAsync(connection => connection.ExecuteScalar<long>("SELECT sum(bytes) FROM provider_usage"), Token));
        Assert.Equal(total, usage.Sum().Total);
    }

    private Task<ProductHost> StartAsync(MockServer mock) =>
        ProductHost.StartAsync(_folder, mock, services => services.AddSingleton<TimeProvider>(_time));

    /// <summary>A second instance of the counts over the database of a server.</summary>
    private sealed class Loaded(ProductHost host, TimeProvider time) : IAsyncDisposable
    {
        public ProviderUsage Usage { get; } = new(host.Get<ProviderHost>(), host.Get<SluiceDatabase>(), time);

        public ValueTask DisposeAsync() => ValueTask.CompletedTask;
    }

    /// <summary>The system clock, with a wall clock set by the test in a time zone two hours ahead.</summary>
    private sealed class Calendar : TimeProvider
    {
        public DateTimeOffset Now { get; set; } = new(2026, 1, 3, 21, 30, 0, TimeSpan.Zero);

        public override TimeZoneInfo LocalTimeZone { get; } = TimeZoneInfo.CreateCustomTimeZone("test", TimeSpan.FromHours(2), "test", "test");

        public override DateTimeOffset GetUtcNow() => Now;
    }
}
