using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

public sealed class ProviderPoolTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Pipelined_commands_each_get_their_own_reply()
    {
        await using var host = await StartAsync(
            new MockProvider { Latency = TimeSpan.FromMilliseconds(30) },
            account => account with { MaxConnections = 1, PipeliningDepth = 8 });
        await Task.WhenAll(Enumerable.Range(1, 24).Select(part => FetchAsync(host, part)));
        Assert.Equal(1, host.Mock.Stats.ConnectionsPeak);
        Assert.Equal(8, host.Mock.Stats.DeepestPipeline);
    }

    [Fact]
    public async Task Depth_1_never_has_two_commands_outstanding()
    {
        await using var host = await StartAsync(new MockProvider { Latency = TimeSpan.FromMilliseconds(5) }, account => account with { MaxConnections = 2, PipeliningDepth = 1 });
        await Task.WhenAll(Enumerable.Range(1, 12).Select(part => FetchAsync(host, part)));
        Assert.Equal(1, host.Mock.Stats.DeepestPipeline);
        Assert.Equal(2, host.Mock.Stats.ConnectionsPeak);
    }

    [Fact]
    public async Task A_lone_fetch_opens_one_connection_and_the_next_reuses_it()
    {
        await using var host = await StartAsync(new MockProvider());
        for (var part = 1; part <= 5; part++)
            await FetchAsync(host, part);
        Assert.Equal(1, host.Mock.Stats.Opened);
    }

    [Fact]
    public async Task Lower_server_cap_is_learned_after_few_refusals()
    {
        await using var host = await StartAsync(
            new MockProvider { MaxConnections = 3, Latency = TimeSpan.FromMilliseconds(10) },
            account => account with { MaxConnections = 20, PipeliningDepth = 1 });
        for (var round = 0; round < 4; round++)
            await Task.WhenAll(Enumerable.Range(1, 30).Select(part => FetchAsync(host, part)));
        Assert.InRange(host.Mock.Stats.Refused, 1, 4);
        Assert.Equal(3, host.Pool.Sockets(0));
    }

    [Fact]
    public async Task Misses_are_retried_at_the_next_provider_of_another_backbone()
    {
        var empty = new MockProvider { Missing = ArticleSelection.All };
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(4),
            new MockOptions { Providers = [empty, empty, new MockProvider()] },
            provider: (index, account) => account with { Backbone = index < 2 ? "same" : "other" });
        await FetchAsync(host, 1);
        Assert.Equal([1, 0, 1], host.Mock.ProviderStats.Select(stats => stats.CommandCount("BODY")));
    }

    [Fact]
    public async Task Miss_is_definitive_only_if_every_provider_answered()
    {
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(2),
            new MockOptions { Providers = [new MockProvider(), new MockProvider()], Missing = ArticleSelection.All });
        var id = MessageId.Parse(host.Release.MessageId(0, 1));
        var reply = await host.Pool.FetchAsync(new ArticleRequest(id, OperationLane.Playback), new CollectingSink(), Token);
        Assert.False(reply.IsFound);
        Assert.Equal((2, 430), (reply.Missing.Providers, reply.Missing.LastCode));

        id = MessageId.Parse(host.Release.MessageId(0, 2));
        host.Mock.ChangeMissing(ArticleSelection.None);
        host.Mock.Change(0, settings => settings with { Missing = ArticleSelection.All });
        host.Mock.ChangeFaults([new MockFault { Kind = FaultKind.Command503, Provider = 1 }]);
        await Assert.ThrowsAsync<NntpException>(async () =>
            await host.Pool.FetchAsync(new ArticleRequest(id, OperationLane.Playback), new CollectingSink(), Token));
    }

    [Fact]
    public async Task Backup_providers_are_used_only_after_a_miss()
    {
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(6),
            new MockOptions { Providers = [new MockProvider(), new MockProvider { Missing = ArticleSelection.Parse("2") }] },
            provider: (index, account) => account with { Kind = index == 0 ? ProviderKind.BackupOnly : ProviderKind.Pooled, Priority = 0 });
        for (var part = 1; part <= 6; part++)
            await FetchAsync(host, part);
        Assert.Equal([1, 6], host.Mock.ProviderStats.Select(stats => stats.CommandCount("BODY")));
    }

    [Theory]
    [InlineData(MockTls.Valid, false, true)]
    [InlineData(MockTls.WrongHost, false, false)]
    [InlineData(MockTls.Expired, false, false)]
    [InlineData(MockTls.SelfSigned, false, false)]
    [InlineData(MockTls.SelfSigned, true, true)]
    public async Task Bad_certificate_is_refused_unless_verification_is_off(MockTls certificate, bool skip, bool connects)
    {
        // The system does not trust the CA of the mock, so a valid chain connects only without verification.
        await using var host = await StartAsync(
            new MockProvider { Tls = certificate },
            account => account with { UseTls = true, SkipTlsVerification = skip || certificate == MockTls.Valid });
        if (connects)
        {
            await FetchAsync(host, 1);
            return;
        }

        var thrown = await Assert.ThrowsAsync<NntpException>(() => FetchAsync(host, 1));
        Assert.Equal(NntpFault.CertificateRefused, thrown.Fault);
        Assert.Equal(0, host.Mock.Stats.CommandCount("BODY"));
    }

    [Fact]
    public async Task Mismatched_TLS_pin_refuses_the_server()
    {
        await using var host = await StartAsync(
            new MockProvider { Tls = MockTls.Valid },
            account => account with { UseTls = true, SkipTlsVerification = true, TlsPin = new string('0', 64) });
        var thrown = await Assert.ThrowsAsync<NntpException>(() => FetchAsync(host, 1));
        Assert.Equal(NntpFault.CertificateRefused, thrown.Fault);
    }

    [Fact]
    public async Task Wrong_password_is_reported_and_tried_only_once()
    {
        await using var host = await StartAsync(
            new MockProvider { User = "u", Password = "right" },
            account => account with { User = "u", Password = "wrong" });
        var thrown = await Assert.ThrowsAsync<NntpException>(() => host.Pool.ProbeAsync(0, Token));
        Assert.Equal(NntpFault.LoginRefused, thrown.Fault);
        Assert.Contains("refuses the username or password", thrown.Message, StringComparison.Ordinal);
        await Assert.ThrowsAsync<NntpException>(() => FetchAsync(host, 1));
        Assert.Equal(1, host.Mock.Stats.Opened);
    }

    [Fact]
    public async Task Idle_connections_are_closed_with_QUIT()
    {
        await using var host = await EngineHost.StartAsync(EngineHost.Film(4), nntp: new NntpOptions { IdleTimeout = TimeSpan.FromMilliseconds(200) });
        await FetchAsync(host, 1);
        await Eventually.HoldsAsync(
            () => host.Mock.Stats.CommandCount("QUIT") == host.Mock.Stats.Opened && host.Pool.Sockets(0) == 0,
            () => $"{host.Mock.Stats.CommandCount("QUIT")} QUIT of {host.Mock.Stats.Opened} connections, {host.Pool.Sockets(0)} sockets",
            Token);
        await FetchAsync(host, 2);
    }

    [Fact(Timeout = 30_000)]
    public async Task Drained_connection_stays_in_the_pool()
    {
        var time = new ManualTimeProvider();
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(4, 60_000),
            new MockOptions { Providers = [new MockProvider { ConnectionBandwidth = 300_000 }] },
            nntpTime: time,
            provider: (_, account) => account with { MaxConnections = 1 });
        using var cancel = new CancellationTokenSource();
        await CancelledAsync(host, 1, at: 100, cancel);
        await host.AssertNothingIsLeftAsync(Token);

        // Every deadline of a drain has passed; the connection was idle and in sync most of that time.
        time.Advance(TimeSpan.FromSeconds(5));
        Assert.Equal(1, host.Pool.Sockets(0));
        await FetchAsync(host, 2);
        Assert.Equal(1, host.Mock.Stats.Opened);
    }

    [Fact]
    public async Task Canceled_fetch_keeps_the_connection_in_sync()
    {
        // One connection and a deep pipeline: after any cancellation the answers behind it must stay right.
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(40, 30_000),
            nntp: new NntpOptions { ReceiveBufferBytes = 4096, CloseGrace = TimeSpan.FromMilliseconds(1) },
            provider: (_, account) => account with { MaxConnections = 1, PipeliningDepth = 4 });
        var random = new Random(5);
        for (var round = 0; round < 400; round++)
        {
            var first = 1 + random.Next(36);
            using var cancel = new CancellationTokenSource();
            var victim = random.Next(3);
            var fetches = Enumerable.Range(0, 3).Select(i => i == victim
                ? CancelledAsync(host, first + i, random.Next(31_000), cancel)
                : FetchAsync(host, first + i));
            await Task.WhenAll(fetches);
        }

        await host.AssertNothingIsLeftAsync(Token);
    }

    private static async Task CancelledAsync(EngineHost host, int part, int at, CancellationTokenSource cancel)
    {
        try
        {
            await FetchAsync(host, part, new CollectingSink(at, cancel.Cancel), cancel.Token);
        }
        catch (OperationCanceledException) when (cancel.IsCancellationRequested)
        {
            // The test canceled the fetch.
        }
    }

    private static Task FetchAsync(EngineHost host, int part) => FetchAsync(host, part, new CollectingSink(), Token);

    private static async Task FetchAsync(EngineHost host, int part, CollectingSink sink, CancellationToken cancellationToken)
    {
        var file = host.Release.Files[0];
        var id = MessageId.Parse(host.Release.MessageId(0, part));
        var reply = await host.Pool.FetchAsync(new ArticleRequest(id, OperationLane.Playback, ExpectedBytes: file.ArticleSize), sink, cancellationToken);
        Assert.True(reply.IsFound);
        var offset = (long)(part - 1) * file.ArticleSize;
        Assert.True(sink.Decoded.SequenceEqual(host.Truth(offset, (int)Math.Min(file.ArticleSize, file.Size - offset))), $"wrong bytes in part {part}");
    }

    private static Task<EngineHost> StartAsync(MockProvider mock, Func<ProviderOptions, ProviderOptions>? account = null) => EngineHost.StartAsync(
        EngineHost.Film(40),
        new MockOptions { Providers = [mock] },
        // A TLS handshake takes seconds on a busy machine, and no test here waits for a timeout.
        new NntpOptions { HedgeEnabled = false, ConnectTimeout = TimeSpan.FromSeconds(20) },
        provider: (_, options) => account is null ? options : account(options));
}
