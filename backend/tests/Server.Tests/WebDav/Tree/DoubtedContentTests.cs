using System.Net;
using System.Net.Http.Headers;
using System.Text;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

/// <summary>A provider that garbles an article for one request, as seen by a client (F17, DAV-71, DAV-72).</summary>
public sealed class DoubtedContentTests : IDisposable
{
    private const int ArticleSize = 100_000;
    private const int Articles = 8;
    private const int Bad = 5;

    private readonly TemporaryFolder _folder = new();
    private readonly MockRelease _release = new("rel", 11, [new MockFile { Name = "film.mkv", Size = Articles * ArticleSize, ArticleSize = ArticleSize }]);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact(Timeout = 120_000)]
    public async Task F17_Garbled_range_returns_503_until_Retry_After_then_206()
    {
        await using var mock = await MockServer.StartAsync();

        // Otherwise the server may send the first bytes of the article before the rest turns out to be damaged.
        await using var host = await PublishAsync(mock, verifies: true);
        mock.ChangeFaults([Garbled()]);

        var wait = await AssertRefusedAsync(host);
        var asked = BodiesOf(mock);
        mock.ChangeFaults([]);
        await AssertRefusedAsync(host);
        Assert.Equal(asked, BodiesOf(mock));

        // The client waits as long as Retry-After says.
        await Task.Delay(wait, TimeProvider.System, Token);
        using var answer = await GetAsync(host, (Bad - 1) * ArticleSize);
        Assert.Equal(HttpStatusCode.PartialContent, answer.StatusCode);
        Assert.Equal(Truth((Bad - 1) * ArticleSize), await answer.Content.ReadAsByteArrayAsync(Token));
        Assert.Equal(asked + 1, BodiesOf(mock));
    }

    [Fact(Timeout = 120_000)]
    public async Task F17_Body_with_a_briefly_garbled_article_completes()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await PublishAsync(mock, verifies: false);
        mock.ChangeFaults([Garbled() with { Tries = 2 }]);

        using var answer = await GetAsync(host, from: 0);

        Assert.Equal(HttpStatusCode.PartialContent, answer.StatusCode);
        Assert.Equal(Truth(0), await answer.Content.ReadAsByteArrayAsync(Token));
    }

    private async Task<ProductHost> PublishAsync(MockServer mock, bool verifies)
    {
        (string, string)[] settings =
            [("SLUICE_CONFIG__USENET__SEGMENT_CACHE__ENABLED", "false"), ("SLUICE_CONFIG__STREAMING__VERIFY_BEFORE_SERVE", verifies ? "true" : "false")];
        var host = await ProductHost.StartAsync(_folder, mock, replace: null, settings);
        var id = await host.AddAsync(_release.ToNzb(), "Rel.nzb", Token);
        await host.WaitForHistoryAsync(id[0], Token);
        mock.Reset();
        return host;
    }

    private MockFault Garbled() => new() { Kind = FaultKind.Corrupt, Articles = ArticleSelection.Article(_release.MessageId(0, Bad)) };

    private long BodiesOf(MockServer mock) => mock.Stats.BodyCount(_release.MessageId(0, Bad));

    private byte[] Truth(int from)
    {
        var bytes = new byte[(Articles * ArticleSize) - from];
        _release.Fill(0, from, bytes);
        return bytes;
    }

    private static async Task<TimeSpan> AssertRefusedAsync(ProductHost host)
    {
        using var answer = await GetAsync(host, (Bad - 1) * ArticleSize);
        Assert.Equal(HttpStatusCode.ServiceUnavailable, answer.StatusCode);
        return Assert.IsType<TimeSpan>(answer.Headers.RetryAfter?.Delta);
    }

    private static async Task<HttpResponseMessage> GetAsync(ProductHost host, int from)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, "/content/uncategorized/Rel/film.mkv");
        request.Headers.Authorization = new AuthenticationHeaderValue("Basic", Convert.ToBase64String(Encoding.UTF8.GetBytes($"admin:{ProductHost.Password}")));
        request.Headers.Range = new RangeHeaderValue(from, null);
        return await host.Client.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, Token);
    }
}
