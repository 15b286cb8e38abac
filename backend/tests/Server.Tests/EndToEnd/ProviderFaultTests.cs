using System.Net;
using System.Net.Sockets;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>Responses to a viewer while articles are missing or damaged and connections break.</summary>
[Trait("Category", EndToEndRun.Name)]
public sealed class ProviderFaultTests
{
    private const int ArticleSize = 64_000;
    private const ulong MostFilms = 6;
    private static readonly SyntheticFilm Film = new(5, 1_000L * ArticleSize + 777, ArticleSize);
    private static readonly MockFault DroppedConnections = new() { Kind = FaultKind.BodyFin, Rate = 0.01 };

    [Fact]
    public async Task Faults_at_one_of_two_providers_lose_no_byte()
    {
        var cancel = TestContext.Current.CancellationToken;
        var faulty = new MockProvider
        {
            Missing = ArticleSelection.Share(0.01),
            Corrupt = ArticleSelection.Share(0.01),
            Faults = [DroppedConnections with { Provider = 0 }],
        };
        await using var set = await MockedServer.StartAsync(new MockOptions { Providers = [faulty, new MockProvider()] }, null, cancel);

        // A late or broken provider pauses for some seconds, so a fault that one film misses occurs in a later one.
        FaultKind[] kinds = [FaultKind.Missing, FaultKind.Corrupt, FaultKind.BodyFin];
        for (var i = 0UL; i < MostFilms && Unmet().Any(); i++)
        {
            if (i > 0)
                await Task.Delay(TimeSpan.FromSeconds(5), TimeProvider.System, cancel);
            var film = new SyntheticFilm(5 + i, Film.Size, ArticleSize);
            await film.PublishAsync(set.Client, cancel);
            var (bytes, complete) = await set.Client.ReadUntilCutAsync(film.Path, null, null, cancel);
            Assert.True(complete, $"The answer was cut after {bytes.Length} bytes.");
            Assert.Equal(film.Size, bytes.Length);
            film.AssertEqual(0, bytes);
        }

        Assert.Empty(Unmet());
        Assert.True(set.Mock.ProviderStats[1].Articles > 0, "The sound provider was never asked.");

        IEnumerable<FaultKind> Unmet() => kinds.Where(kind => set.Mock.ProviderStats[0].FaultCount(kind) == 0);
    }

    [Fact]
    public async Task Dropped_connections_at_the_only_provider_are_retried()
    {
        var cancel = TestContext.Current.CancellationToken;
        await using var set = await MockedServer.StartAsync(new MockOptions { Faults = [DroppedConnections] }, null, cancel);
        await Film.PublishAsync(set.Client, cancel);

        var (bytes, complete) = await set.Client.ReadUntilCutAsync(Film.Path, null, null, cancel);
        Assert.True(complete, $"The answer was cut after {bytes.Length} bytes.");
        Assert.Equal(Film.Size, bytes.Length);
        Film.AssertEqual(0, bytes);
        Assert.True(set.Mock.Stats.FaultCount(FaultKind.BodyFin) > 0, "The run met no dropped connection.");
    }

    [Theory]
    [InlineData(FaultKind.Missing)]
    [InlineData(FaultKind.Corrupt)]
    public async Task Missing_or_corrupt_article_aborts_only_reads_across_it(FaultKind kind)
    {
        var cancel = TestContext.Current.CancellationToken;
        const int Part = 300;
        const long Hole = (Part - 1L) * ArticleSize;
        const long Behind = Hole + ArticleSize;
        var fault = new MockFault { Kind = kind, Articles = ArticleSelection.Parts(Part) };
        await using var set = await MockedServer.StartAsync(new MockOptions { Faults = [fault] }, null, cancel);
        await Film.PublishAsync(set.Client, cancel);

        // The server sends every byte before the hole and none of the hole.
        Film.AssertEqual(0, await set.Client.GetRangeAsync(Film.Path, 0, Hole - 1, Film.Size, cancel));
        foreach (var to in new long?[] { Hole, null })
        {
            var (bytes, complete) = await set.Client.ReadUntilCutAsync(Film.Path, 0, to, cancel);
            Assert.False(complete, "An answer over the hole was completed.");
            Assert.InRange(bytes.Length, 0, Hole);
            Film.AssertEqual(0, bytes);
        }
        Assert.True(set.Mock.Stats.FaultCount(kind) > 0, "The run met no hole.");

        await AssertLandingInHoleAsync(set.Client, Hole + ArticleSize / 2, cancel);
        Film.AssertEqual(Behind, await set.Client.GetRangeAsync(Film.Path, Behind, Film.Size - 1, Film.Size, cancel));
    }

    [Fact]
    public async Task Complete_responses_over_scattered_holes_are_correct()
    {
        var cancel = TestContext.Current.CancellationToken;
        var options = new MockOptions { Missing = ArticleSelection.Share(0.01), Corrupt = ArticleSelection.Share(0.01) };
        await using var set = await MockedServer.StartAsync(options, null, cancel);
        // The first and the last article determine the geometry; without them the film cannot be read.
        set.Mock.ChangeMissing(ArticleSelection.None);
        set.Mock.ChangeCorrupt(ArticleSelection.None);
        await Film.PublishAsync(set.Client, cancel);
        set.Mock.ChangeMissing(options.Missing);
        set.Mock.ChangeCorrupt(options.Corrupt);

        var cut = 0;
        const int Piece = 10 * ArticleSize;
        for (long offset = 0; offset < Film.Size; offset += Piece)
        {
            var to = Math.Min(offset + Piece, Film.Size) - 1;
            using var answer = await OpenUnlessResetAsync(set.Client, offset, to, cancel);
            // A range that begins with a damaged article gets 503 until a second fetch confirms the damage (F17).
            if (answer is null || answer.StatusCode is HttpStatusCode.Gone or HttpStatusCode.ServiceUnavailable)
            {
                cut++;
                continue;
            }

            Assert.Equal(HttpStatusCode.PartialContent, answer.StatusCode);
            var (bytes, complete) = await SluiceClient.ReadUntilCutAsync(answer, cancel);
            // Unverified bytes may only come from the first segment of an aborted answer, so only a completed answer is compared.
            if (complete)
                Assert.Equal(to - offset + 1, bytes.Length);
            if (complete)
                Film.AssertEqual(offset, bytes);
            else
                cut++;
        }
        Assert.True(cut > 0, "No read met a hole.");
        Assert.True(set.Mock.Stats.FaultCount(FaultKind.Missing) > 0 && set.Mock.Stats.FaultCount(FaultKind.Corrupt) > 0);
    }

    /// <returns>Null if an immediate reset overtook the headers, because the client's system then discards them.</returns>
    private static async Task<HttpResponseMessage?> OpenUnlessResetAsync(SluiceClient client, long offset, long to, CancellationToken cancel)
    {
        try
        {
            return await client.OpenAsync(Film.Path, offset, to, cancel);
        }
        catch (HttpRequestException cut) when (cut.GetBaseException() is SocketException { SocketErrorCode: SocketError.ConnectionReset })
        {
            return null;
        }
    }

    /// <summary>Fails unless a read that begins inside the hole is refused or aborted.</summary>
    private static async Task AssertLandingInHoleAsync(SluiceClient client, long offset, CancellationToken cancel)
    {
        using var answer = await OpenUnlessResetAsync(client, offset, offset + 999, cancel);
        if (answer is null || answer.StatusCode == HttpStatusCode.Gone)
            return;
        Assert.Equal(HttpStatusCode.PartialContent, answer.StatusCode);
        Assert.False((await SluiceClient.ReadUntilCutAsync(answer, cancel)).Complete, "A read inside the hole was completed.");
    }
}
