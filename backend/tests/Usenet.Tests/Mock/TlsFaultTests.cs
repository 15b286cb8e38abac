using System.Security.Authentication;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Xunit;

namespace Sluice.Usenet.Tests.Mock;

public sealed class TlsFaultTests
{
    [Theory]
    [InlineData(FaultKind.TlsExpired)]
    [InlineData(FaultKind.TlsWrongHost)]
    [InlineData(FaultKind.TlsSelfSigned)]
    public async Task Wrong_certificate_affects_only_the_chosen_connection(FaultKind kind)
    {
        await using var mock = await StartAsync(kind);
        await using (var client = await RawClient.ConnectAsync(mock.Port))
            await Assert.ThrowsAsync<AuthenticationException>(() => client.SecureAsync(mock.AuthorityPem!));
        await AssertServedAsync(mock);
        Assert.Equal(new Dictionary<string, long> { [FaultNames.Of(kind)] = 1 }, mock.Stats.Faults);
    }

    [Fact]
    public async Task TLS_handshake_closed_midway_fails()
    {
        await using var mock = await StartAsync(FaultKind.TlsClose);
        await using (var client = await RawClient.ConnectAsync(mock.Port))
            await Assert.ThrowsAnyAsync<IOException>(() => client.SecureAsync(mock.AuthorityPem!));
        await AssertServedAsync(mock);
        Assert.Equal((1, 1), (mock.Stats.HandshakesFailed, mock.Stats.FaultCount(FaultKind.TlsClose)));
    }

    [Fact]
    public async Task Handshake_stalls_until_the_client_disconnects()
    {
        await using var mock = await StartAsync(FaultKind.TlsStall);
        await using (var client = await RawClient.ConnectAsync(mock.Port))
        {
            var shaking = client.SecureAsync(mock.AuthorityPem!);
            await Eventually.IsTrueAsync(() => mock.Stats.FaultCount(FaultKind.TlsStall) == 1);
            Assert.False(shaking.IsCompleted);
            client.Socket.Dispose();
            await Assert.ThrowsAnyAsync<Exception>(() => shaking);
        }

        await Eventually.IsTrueAsync(() => mock.Stats.ConnectionsNow == 0);
        await AssertServedAsync(mock);
    }

    [Fact]
    public async Task One_byte_TLS_records_carry_the_same_bytes()
    {
        await using var mock = await StartAsync(FaultKind.TlsOneByte);
        await AssertServedAsync(mock);
        Assert.Equal(1, mock.Stats.FaultCount(FaultKind.TlsOneByte));
    }

    private static Task<MockServer> StartAsync(FaultKind kind) => MockServer.StartAsync(new MockOptions
    {
        Providers = [new MockProvider { Tls = MockTls.Valid }],
        Faults = [new MockFault { Kind = kind, Connection = 1 }],
    });

    private static async Task AssertServedAsync(MockServer mock)
    {
        await using var client = await RawClient.ConnectAsync(mock.Port);
        await client.SecureAsync(mock.AuthorityPem!);
        Assert.StartsWith("200 ", await client.ReadLineAsync(), StringComparison.Ordinal);
        Assert.Equal(FaultBench.Truth(1), RawArticle.Parse(await client.ReadBodyAsync(FaultBench.FirstId)).Decoded);
    }
}
