using Sluice.Tools.MockNntpServer;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>A health check beside a film, on the wire (F14).</summary>
public sealed class BackgroundShareTests
{
    private const int Connections = 10;
    private const int Checked = 100_000;
    private const int Articles = 400;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact(Timeout = 120_000)]
    public async Task F14_Health_check_keeps_to_a_fifth_of_the_connections_beside_a_film_and_both_come_to_their_end()
    {
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(Checked),
            new MockOptions { Providers = [new MockProvider { MaxConnections = Connections, Latency = TimeSpan.FromMilliseconds(5) }] },
            provider: (_, account) => account with { MaxConnections = Connections });
        var ids = Enumerable.Range(1, Checked).Select(part => MessageId.Parse(host.Release.MessageId(0, part))).ToArray();
        var answers = new ArticlePresence[Checked];
        var buffer = new byte[20_000];
        var most = 0;
        await using (var stream = host.Open(0, Articles * (long)buffer.Length))
        {
            await stream.ReadExactlyAsync(buffer, Token);
            var check = host.Pool.StatAsync(new StatRequest(ids, OperationLane.HealthCheck), answers, Token).AsTask();
            for (var article = 1; article < Articles; article++)
            {
                await stream.ReadExactlyAsync(buffer, Token);
                Assert.True(buffer.AsSpan().SequenceEqual(host.Truth(article * (long)buffer.Length, buffer.Length)), $"wrong bytes in article {article}");
                var now = host.Limiter.InUse(OperationLane.HealthCheck);
                Assert.InRange(now, 0, Connections / 5);
                most = Math.Max(most, now);
            }

            await check;
        }

        // It had gone on beside the film, and every article was found.
        Assert.InRange(most, 1, Connections / 5);
        Assert.All(answers, answer => Assert.True(answer.IsPresent));
        Assert.Equal(Checked, host.Mock.Stats.CommandCount("STAT"));
        Assert.InRange(host.Mock.Stats.ConnectionsPeak, 1, Connections);
        await host.AssertNothingIsLeftAsync(Token);
    }
}
