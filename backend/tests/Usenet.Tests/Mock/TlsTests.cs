using System.Security.Authentication;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Usenet.Tests.Mock;

public sealed class TlsTests
{
    [Theory]
    [InlineData("localhost")]
    [InlineData("127.0.0.1")]
    public async Task Valid_certificate_is_accepted_if_its_authority_is_trusted(string host)
    {
        await using var mock = await StartAsync(MockTls.Valid);
        await using var client = await RawClient.ConnectAsync(mock.Port);
        await client.SecureAsync(mock.AuthorityPem!, host);
        Assert.StartsWith("200 ", await client.ReadLineAsync(), StringComparison.Ordinal);
        Assert.StartsWith("111 ", await client.AskAsync("DATE"), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(MockTls.WrongHost)]
    [InlineData(MockTls.Expired)]
    [InlineData(MockTls.SelfSigned)]
    public async Task Invalid_certificate_is_rejected_by_the_client(MockTls certificate)
    {
        await using var mock = await StartAsync(certificate);
        await using var client = await RawClient.ConnectAsync(mock.Port);
        await Assert.ThrowsAsync<AuthenticationException>(() => client.SecureAsync(mock.AuthorityPem!));
    }

    [Fact]
    public async Task Plain_client_gets_no_greeting_from_a_provider_with_tls()
    {
        await using var mock = await StartAsync(MockTls.Valid);
        await using var client = await RawClient.ConnectAsync(mock.Port);
        await client.SendAsync("CAPABILITIES");
        Assert.DoesNotContain((byte)'2', (await client.ReadToEndAsync()).Bytes.Take(1));
        Assert.Equal(1, mock.Stats.HandshakesFailed);
    }

    private static Task<MockServer> StartAsync(MockTls certificate) =>
        MockServer.StartAsync(new MockOptions { Providers = [new MockProvider { Tls = certificate }] });
}
