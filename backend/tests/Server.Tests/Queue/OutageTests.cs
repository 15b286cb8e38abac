using System.Globalization;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Queue;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.Queue;

/// <summary>Items waiting for a provider continue when it is back, without waiting for their retry.</summary>
public sealed class OutageTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task End_of_an_outage_wakes_every_waiting_item()
    {
        var cancel = TestContext.Current.CancellationToken;
        var port = ServerProcess.FreePort();
        var provider = string.Create(CultureInfo.InvariantCulture, $$"""{"Providers":[{"Host":"127.0.0.1","Port":{{port}},"UseSsl":false,"MaxConnections":4,"Type":1}]}""");
        // The clock of the retries stands still, so none is due.
        await using var host = await ProductHost.StartAsync(
            _folder,
            replace: services => services.AddSingleton(services => ActivatorUtilities.CreateInstance<QueueSchedule>(services, new ManualTimeProvider())),
            variables: ("SLUICE_CONFIG__USENET__PROVIDERS", provider));
        var ids = new List<string>();
        for (var seed = 1UL; seed <= 3; seed++)
            ids.AddRange(await host.AddAsync(MockRelease.Plain(seed, 20_000, articleSize: 20_000).ToNzb(), $"Rel{seed}.nzb", cancel));
        foreach (var id in ids)
            await host.WaitForWaitingAsync(id, cancel);

        await using var mock = await MockServer.StartAsync(new MockOptions { Providers = [new MockProvider { Port = port }] });

        foreach (var id in ids)
            Assert.Equal("Completed", (await host.WaitForHistoryAsync(id, cancel)).GetProperty("status").GetString());
        Assert.Empty(host.Get<QueueSchedule>().ListRetrying());
    }
}
