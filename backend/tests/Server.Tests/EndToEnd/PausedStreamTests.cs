using System.Net;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>A viewer pauses for a long time and resumes without losing any of the film (F03).</summary>
[Collection(EndToEndRun.Name)]
public sealed class PausedStreamTests
{
    private static readonly SyntheticFilm Film = new(3, 200_000_000, 716_800);

    [Fact]
    [Trait("Category", EndToEndRun.Lengthy)]
    public async Task F03_Film_continues_after_a_20_minute_pause()
    {
        var cancel = TestContext.Current.CancellationToken;
        await using var set = await MockedServer.StartAsync(new MockOptions(), null, cancel);
        await Film.PublishAsync(set.Client, cancel);
        using var answer = await set.Client.OpenAsync(Film.Path, null, null, cancel);
        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        await using var body = await answer.Content.ReadAsStreamAsync(cancel);
        var piece = new byte[100_000];
        for (long offset = 0; offset < Film.Size; offset += piece.Length)
        {
            if (offset == 20 * piece.Length)
                await Task.Delay(TimeSpan.FromMinutes(20), TimeProvider.System, cancel);
            await body.ReadExactlyAsync(piece, cancel);
            Film.AssertEqual(offset, piece);
        }
    }
}
