using System.Net;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>More viewers than there is memory for are asked to come back, and let in as soon as one has gone.</summary>
[Collection(EndToEndRun.Name)]
public sealed class AdmissionTests
{
    // Three quarters of the smallest budget that can be set, at 4 MiB for each.
    private const int Admitted = 12;
    private static readonly SyntheticFilm Film = new(9, 60_000_000, 716_800);

    [Fact]
    [Trait("Category", EndToEndRun.Name)]
    public async Task A_stream_beyond_the_memory_budget_is_answered_503_until_another_one_ends()
    {
        var cancel = TestContext.Current.CancellationToken;
        var settings = new Dictionary<string, string> { ["SLUICE_CONFIG__USENET__IN_FLIGHT_ARTICLE_BUDGET_MB"] = "64" };
        await using var set = await MockedServer.StartAsync(new MockOptions(), settings, cancel);
        await Film.PublishAsync(set.Client, cancel);

        List<HttpResponseMessage> viewers = [];
        for (var i = 0; i < Admitted; i++)
        {
            viewers.Add(await set.Client.OpenAsync(Film.Path, i * 1_000_000, null, cancel));
            Assert.Equal(HttpStatusCode.PartialContent, viewers[i].StatusCode);
        }

        using (var refused = await set.Client.OpenAsync(Film.Path, 5, null, cancel))
        {
            Assert.Equal(HttpStatusCode.ServiceUnavailable, refused.StatusCode);
            Assert.NotNull(refused.Headers.RetryAfter);
        }

        viewers[3].Dispose();
        while (true)
        {
            using var later = await set.Client.OpenAsync(Film.Path, 5, 2004, cancel);
            if (later.StatusCode == HttpStatusCode.PartialContent)
            {
                Film.AssertEqual(5, await later.Content.ReadAsByteArrayAsync(cancel));
                break;
            }

            Assert.Equal(HttpStatusCode.ServiceUnavailable, later.StatusCode);
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, cancel);
        }

        foreach (var viewer in viewers)
            viewer.Dispose();
    }
}
