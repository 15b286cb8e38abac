using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>
/// Every fault of the mock except those of <see cref="TlsPolicyFaultTests"/>, with and without a second healthy provider, while the wall
/// clock jumps by years.
/// </summary>
public sealed class FaultMatrixTests
{
    // Short, so that silent faults end soon; the ratios are those of the defaults.
    private static readonly NntpOptions Impatient = new()
    {
        ConnectTimeout = TimeSpan.FromMilliseconds(400),
        LoginTimeout = TimeSpan.FromMilliseconds(800),
        PlaybackStall = TimeSpan.FromMilliseconds(600),
        BackgroundStall = TimeSpan.FromMilliseconds(1200),
        LeaseTimeout = TimeSpan.FromSeconds(5),
    };

    // A machine busy for as long as a deadline fails good answers too. That costs tries, which the read must not run out of.
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(2);

    private readonly ShiftedClock _clock = new();

    public static TheoryData<FaultKind> Kinds =>
        [.. Enum.GetValues<FaultKind>().Where(kind => kind is not (FaultKind.Coverage or FaultKind.ConnectRefuse or FaultKind.ConnectBlackhole) && kind < FaultKind.TlsStall)];

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task Fault_at_one_of_two_providers_loses_no_byte(FaultKind kind)
    {
        await using var host = await StartAsync(new MockFault { Kind = kind, Provider = 0, Rate = IsOfAConnection(kind) ? 1 : 0.5 }, providers: 2, Patience);
        await ReadWholeAsync(host);
        Assert.True(host.Mock.Stats.FaultCount(kind) > 0, "the fault was never met");
        await AssertSoundAfterwardsAsync(host);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task A_fault_at_the_only_provider_never_yields_wrong_bytes(FaultKind kind)
    {
        var rate = IsOfAConnection(kind) || kind is FaultKind.CommandSwapped ? 1 : 0.3;
        await using var host = await StartAsync(new MockFault { Kind = kind, Rate = rate, Tries = 1 }, providers: 1, TimeSpan.FromSeconds(3));
        try
        {
            await ReadWholeAsync(host);
        }
        catch (IOException)
        {
            // A missing article ends the read; the bytes before it have been compared.
        }

        Assert.True(host.Mock.Stats.FaultCount(kind) > 0, "the fault was never met");
        await AssertSoundAfterwardsAsync(host);
    }

    [Fact]
    public async Task Dropped_connections_are_retried_until_the_read_is_complete()
    {
        var drops = new MockFault { Kind = FaultKind.BodyReset, Rate = 0.5 };
        await using var host = await StartAsync(drops, providers: 1, Patience);
        await ReadWholeAsync(host);
        Assert.True(host.Mock.Stats.FaultCount(FaultKind.BodyReset) > 5);
        await host.AssertNothingIsLeftAsync(Token);
    }

    private static bool IsOfAConnection(FaultKind kind) => kind is >= FaultKind.ConnectSlow and <= FaultKind.AuthThen480;

    private Task<EngineHost> StartAsync(MockFault fault, int providers, TimeSpan patience) => EngineHost.StartAsync(
        EngineHost.Film(48, files: 2),
        new MockOptions { Providers = [.. Enumerable.Range(0, providers).Select(_ => new MockProvider { User = "u", Password = "p" })], Faults = [fault] },
        Impatient,
        new StreamOptions { PlaybackRetries = patience, AskAgainAfter = TimeSpan.FromMilliseconds(500) },
        (_, account) => account with
        {
            User = "u",
            Password = "p",
            // Answers can only be swapped if commands are pipelined.
            MaxConnections = fault.Kind == FaultKind.CommandSwapped ? 1 : account.MaxConnections,
            PipeliningDepth = fault.Kind == FaultKind.CommandSwapped ? 4 : null,
        },
        streamTime: _clock,
        nntpTime: _clock);

    // After a fault, connections, permits and memory of one film recover, so another film is read whole.
    private async Task AssertSoundAfterwardsAsync(EngineHost host)
    {
        _clock.SetApart(-TimeSpan.FromDays(730));
        await host.AssertNothingIsLeftAsync(Token);
        host.Mock.ChangeFaults([]);
        await host.AssertReadsCleanAsync(file: 1, tries: 5, Token);
        await host.AssertNothingIsLeftAsync(Token);
    }

    private async Task ReadWholeAsync(EngineHost host)
    {
        var length = host.Release.Files[0].Size;
        var landing = new MemoryStream();
        await using var stream = host.Open();
        var buffer = new byte[50_000];
        for (long position = 0; position < length;)
        {
            _clock.SetApart(TimeSpan.FromDays(730) * ((position / buffer.Length % 3) - 1));
            var count = await stream.ReadAsync(buffer, Token);
            Assert.True(count > 0, $"short read at {position}");

            // Bytes of the landing article may be wrong if the read fails, so they are compared only after a completed read.
            if (position >= host.Release.Files[0].ArticleSize)
                Assert.True(buffer.AsSpan(0, count).SequenceEqual(host.Truth(position, count)), $"wrong bytes at {position}");
            else
                landing.Write(buffer, 0, count);
            position += count;
        }

        Assert.Equal(0, await stream.ReadAsync(buffer, Token));
        Assert.True(landing.ToArray().AsSpan().SequenceEqual(host.Truth(0, (int)landing.Length)), "wrong bytes in the landing article of a whole read");
    }
}
