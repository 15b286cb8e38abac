using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>
/// The faults of the groups tls and policy through the whole engine: right bytes or a typed error, counts equal to those of the mock,
/// and no permit, block or socket left.
/// </summary>
public sealed class TlsPolicyFaultTests
{
    private const int MostRounds = 6;

    // Short, so that silent faults end soon; the ratios are those of the defaults.
    private static readonly NntpOptions Impatient = new()
    {
        ConnectTimeout = TimeSpan.FromMilliseconds(400),
        LoginTimeout = TimeSpan.FromMilliseconds(800),
        PlaybackStall = TimeSpan.FromMilliseconds(600),
        LeaseTimeout = TimeSpan.FromSeconds(5),
        CloseGrace = TimeSpan.FromMilliseconds(1),
    };

    public static TheoryData<FaultKind> Kinds => [.. Enum.GetValues<FaultKind>().Where(kind => kind >= FaultKind.TlsStall)];

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task Fault_at_one_of_two_providers_loses_no_byte(FaultKind kind)
    {
        await using var host = await StartAsync(kind, Fault(kind) with { Provider = 0 }, providers: 2);
        for (var round = 0; round < MostRounds && !IsMet(host, kind); round++)
            Assert.Null(await ReadWholeAsync(host));

        await AssertMetAsync(host, kind);
        Assert.Null(await ReadWholeAsync(host));
        await host.AssertNothingIsLeftAsync(Token);
        await host.AssertCountsAgreeAsync(Token);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task Lone_provider_fault_ends_in_correct_bytes_or_a_typed_error(FaultKind kind)
    {
        await using var host = await StartAsync(kind, Fault(kind) with { Until = kind == FaultKind.PolicyDown ? TimeSpan.FromMilliseconds(300) : null }, providers: 1);
        var error = await ReadWholeAsync(host);
        switch (kind)
        {
            case FaultKind.TlsExpired or FaultKind.TlsWrongHost or FaultKind.TlsSelfSigned:
                Assert.Equal(NntpFault.CertificateRefused, Assert.IsType<NntpException>(error).Fault);
                break;
            case FaultKind.TlsStall:
                Assert.Equal(NntpFault.ConnectTimeout, Assert.IsType<NntpException>(error).Fault);
                break;
            case FaultKind.TlsClose:
                Assert.True(error is NntpException { Fault: NntpFault.ConnectionClosed or NntpFault.TlsFailed }, $"{error}");
                break;
            case FaultKind.PolicyStatLie:
                Assert.IsType<ArticleGoneException>(error);
                break;
            case FaultKind.TlsOneByte or FaultKind.PolicyIdle or FaultKind.PolicyCap or FaultKind.PolicyThrottle:
                Assert.Null(error);
                break;
            default:
                // The outcome depends on whether a second try is in time, but an error must be typed.
                Assert.True(error is null or NntpException or ArticleGoneException, $"{error}");
                break;
        }

        await AssertMetAsync(host, kind);
        await host.AssertNothingIsLeftAsync(Token);
        await host.AssertCountsAgreeAsync(Token);
    }

    [Theory]
    [InlineData(FaultKind.TlsExpired)]
    [InlineData(FaultKind.TlsWrongHost)]
    [InlineData(FaultKind.TlsSelfSigned)]
    public async Task Bad_certificate_is_accepted_if_verification_is_off(FaultKind kind)
    {
        await using var host = await StartAsync(kind, Fault(kind), providers: 1, skipsVerification: true);
        Assert.Null(await ReadWholeAsync(host));
        await AssertMetAsync(host, kind);
        await host.AssertNothingIsLeftAsync(Token);
        await host.AssertCountsAgreeAsync(Token);
    }

    private static MockFault Fault(FaultKind kind) => new()
    {
        Kind = kind,
        Duration = kind == FaultKind.PolicyIdle ? TimeSpan.FromMilliseconds(40) : null,
        Limit = kind == FaultKind.PolicyThrottle ? 300_000 : null,
    };

    private static bool IsTls(FaultKind kind) => kind is >= FaultKind.TlsStall and <= FaultKind.TlsOneByte;

    // A connection above the cap counts as refused.
    private static bool IsMet(EngineHost host, FaultKind kind) => host.Mock.Stats.FaultCount(kind) > 0 || (kind == FaultKind.PolicyCap && host.Mock.Stats.Refused > 0);

    // Idle connections are closed a moment after the read.
    private static Task AssertMetAsync(EngineHost host, FaultKind kind) =>
        Eventually.HoldsAsync(() => IsMet(host, kind), () => "the fault was never met", Token);

    private static Task<EngineHost> StartAsync(FaultKind kind, MockFault fault, int providers, bool skipsVerification = false)
    {
        // Commands are only pipelined if the round trip is long and connections are few.
        var pipelines = kind is FaultKind.PolicyNoPipelining or FaultKind.PolicyReorder;
        var usual = new MockProvider { Latency = TimeSpan.FromMilliseconds(pipelines ? 2 : 0) };
        return EngineHost.StartAsync(
            EngineHost.Film(pipelines ? 200 : 24),
            new MockOptions { Providers = [.. Enumerable.Range(0, providers).Select(index => index == 0 && IsTls(kind) ? usual with { Tls = MockTls.Valid } : usual)], Faults = [fault] },
            Impatient,
            new StreamOptions { PlaybackRetries = TimeSpan.FromSeconds(2), AskAgainAfter = TimeSpan.FromMilliseconds(500) },
            (index, account) => account with
            {
                MaxConnections = pipelines ? 4 : 8,
                UseTls = index == 0 && IsTls(kind),
                // No certificate store contains the CA of the mock, so verification is off if the certificate is not the fault.
                SkipTlsVerification = skipsVerification || kind is FaultKind.TlsStall or FaultKind.TlsClose or FaultKind.TlsOneByte,
            });
    }

    /// <returns>The exception that ended the read, or null if every byte arrived.</returns>
    private static async Task<IOException?> ReadWholeAsync(EngineHost host)
    {
        var length = host.Release.Files[0].Size;
        await using var stream = host.Open();
        var buffer = new byte[50_000];
        try
        {
            for (long position = 0; position < length;)
            {
                var count = await stream.ReadAsync(buffer, Token);
                Assert.True(count > 0, $"short read at {position}");
                Assert.True(buffer.AsSpan(0, count).SequenceEqual(host.Truth(position, count)), $"wrong bytes at {position}");
                position += count;
            }

            return null;
        }
        catch (IOException error)
        {
            return error;
        }
    }
}
