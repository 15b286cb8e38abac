using System.Net;
using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Fetching;
using Sluice.Usenet.Nntp.Wire;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>A host name with several addresses, some of which do not work (RFC 8305).</summary>
public sealed class AddressTests
{
    private static readonly IPAddress First = IPAddress.Parse("127.0.0.2");

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory(Timeout = 60_000)]
    [InlineData(FaultKind.ConnectBlackhole, 8)]
    [InlineData(FaultKind.ConnectBlackhole, 1)]
    [InlineData(FaultKind.ConnectRefuse, 8)]
    [InlineData(FaultKind.ConnectRefuse, 1)]
    public async Task Second_address_is_used_when_the_first_fails(FaultKind fault, int connections)
    {
        await using var good = await MockServer.StartAsync(new MockOptions { Providers = [new MockProvider { MaxConnections = connections }] });
        await using var bad = await MockServer.StartAsync(new MockOptions
        {
            Bind = First,
            Providers = [new MockProvider { Port = good.Port }],
            Faults = [new MockFault { Kind = fault }],
        });
        await Eventually.HoldsAsync(() => bad.Stats.FaultCount(fault) == 1, () => "the first address listens", Token);
        var account = new ProviderOptions { Name = "two", Host = "news.example.com", Port = good.Port, UseTls = false, MaxConnections = connections };
        await using var accounts = new NntpAccounts(
            new GlobalOperationLimiter(), TimeProvider.System, NullLoggerFactory.Instance, names: new Addresses(First, IPAddress.Loopback));
        // With one connection, the first address has half of the connect deadline and the second the rest. The login deadline is longer, or it would end both.
        var options = new NntpOptions { ConnectTimeout = TimeSpan.FromSeconds(10), LoginTimeout = TimeSpan.FromSeconds(20), HedgeEnabled = false };
        await using var pool = new ProviderPool(accounts, [account], options);
        var release = EngineHost.Film(1);

        var reply = await pool.FetchAsync(new ArticleRequest(MessageId.Parse(release.MessageId(0, 1)), OperationLane.Playback), new CollectingSink(), Token);

        Assert.True(reply.IsFound);
        Assert.Equal((1, 0), (good.Stats.Opened, good.Stats.Refused));
        Assert.Equal(1, pool.Sockets(0));
    }

    [Fact]
    public void Address_families_alternate_from_the_last_working_one()
    {
        IPAddress[] found = [.. new[] { "2001:db8::1", "2001:db8::2", "2001:db8::3", "192.0.2.1" }.Select(IPAddress.Parse)];

        Assert.Equal(["2001:db8::1", "192.0.2.1", "2001:db8::2", "2001:db8::3"], InTurn(null, 8));
        Assert.Equal(["192.0.2.1", "2001:db8::1", "2001:db8::2"], InTurn(IPAddress.Any.AddressFamily, 3));
        Assert.Equal(["2001:db8::1"], InTurn(IPAddress.IPv6Any.AddressFamily, 1));

        IEnumerable<string> InTurn(System.Net.Sockets.AddressFamily? first, int most) => AddressRace.InTurn(found, first, most).Select(address => address.ToString());
    }

    private sealed class Addresses(params IPAddress[] found) : INameResolver
    {
        public ValueTask<IReadOnlyList<IPAddress>> ResolveAsync(string host, CancellationToken cancellationToken) => ValueTask.FromResult<IReadOnlyList<IPAddress>>(found);
    }
}
