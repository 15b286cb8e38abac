using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>
/// Films with one provider that hangs and a healthy one (F10), under the default deadlines. Each provider is asked once, because a second
/// request to a silent provider would wait for a second deadline.
/// </summary>
public sealed class HangingProviderTests : IAsyncDisposable
{
    private const int Films = 8;
    private const int Articles = 60;
    private const int ArticleSize = 20_000;
    private static readonly TimeSpan Bar = TimeSpan.FromSeconds(8);

    // The films begin before and after the provider starts to hang.
    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(40);

    private readonly Heartbeat _time = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public ValueTask DisposeAsync() => _time.DisposeAsync();

    [Theory(Timeout = 240_000)]
    [InlineData(FaultKind.ConnectBlackhole, true)]
    [InlineData(FaultKind.TlsStall, true)]
    [InlineData(FaultKind.CommandSlow, true)]
    [InlineData(FaultKind.CommandSlow, false)]
    [InlineData(FaultKind.BodyStall, true)]
    [InlineData(FaultKind.BodyStall, false)]
    public async Task F10_Hanging_provider_stalls_playback_at_most_8_seconds(FaultKind kind, bool hedge)
    {
        var longest = await Task.WhenAll(Enumerable.Range(0, Films).Select(film => PlayAsync(kind, hedge, film * Step)));
        Array.Sort(longest);
        TestContext.Current.TestOutputHelper?.WriteLine($"{kind}: longest stalls of the films {string.Join(", ", longest)}");
        Assert.InRange(longest[(int)Math.Ceiling(0.99 * Films) - 1], TimeSpan.Zero, Bar);
    }

    /// <summary>Plays a whole film.</summary>
    /// <returns>The longest wait for a byte, including the first.</returns>
    private async Task<TimeSpan> PlayAsync(FaultKind kind, bool hedge, TimeSpan after)
    {
        var sound = new MockProvider { Latency = TimeSpan.FromMilliseconds(10) };
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(Articles, ArticleSize),
            new MockOptions
            {
                Providers = [sound with { Tls = kind == FaultKind.TlsStall ? MockTls.Valid : MockTls.None }, sound],
                Faults = [new MockFault { Kind = kind, Provider = 0, After = after, Duration = TimeSpan.Zero }],
            },
            new NntpOptions { HedgeEnabled = hedge },
            provider: (index, account) => account with { UseTls = index == 0 && kind == FaultKind.TlsStall, SkipTlsVerification = true });
        var truth = host.Truth(0, (int)host.Release.Files[0].Size);
        var read = new byte[truth.Length];
        var longest = TimeSpan.Zero;
        await using (var stream = host.Open())
        {
            for (var total = 0; total < read.Length;)
            {
                var began = _time.Now;
                total += await stream.ReadAsync(read.AsMemory(total, Math.Min(ArticleSize / 4, read.Length - total)), Token);
                var took = _time.Since(began);
                longest = took > longest ? took : longest;
            }
        }

        Assert.True(read.AsSpan().SequenceEqual(truth), "wrong bytes");
        return longest;
    }
}
