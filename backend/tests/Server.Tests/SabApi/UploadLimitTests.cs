using System.Net;
using System.Net.Http.Headers;
using System.Text;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Xunit;

namespace Sluice.Server.Tests.SabApi;

/// <summary>An upload may be exactly as long as the limit, with or without a Content-Length (S26, SAB-13).</summary>
public sealed class UploadLimitTests : IDisposable
{
    private const int Limit = 1 << 20;
    private const string Start = "--x\r\nContent-Disposition: form-data; name=\"name\"; filename=\"a.nzb\"\r\n\r\n";
    private const string End = "\r\n--x--\r\n";

    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Theory]
    [InlineData(-1, false)]
    [InlineData(0, false)]
    [InlineData(1, false)]
    [InlineData(-1, true)]
    [InlineData(0, true)]
    [InlineData(1, true)]
    public async Task Addfile_body_is_accepted_up_to_the_exact_limit(int beyond, bool isChunked)
    {
        await using var host = await ProductHost.StartAsync(_folder, null, null, ("MAX_REQUEST_BODY_SIZE", $"{Limit}"));
        var nzb = new string(' ', Limit + beyond - Start.Length - End.Length);

        using var call = new HttpRequestMessage(HttpMethod.Post, new Uri($"/api?mode=addfile&apikey={ProductHost.Key}", UriKind.Relative));
        call.Content = Body(Start + nzb + End, isChunked);
        call.Content.Headers.ContentType = MediaTypeHeaderValue.Parse("multipart/form-data; boundary=x");
        using var answer = await host.Client.SendAsync(call, Token);

        var text = await answer.Content.ReadAsStringAsync(Token);
        if (beyond > 0)
            Assert.Equal((HttpStatusCode.RequestEntityTooLarge, """{"status":false,"error":"NZB is too large"}"""), (answer.StatusCode, text));
        else
            Assert.Matches("""^\{"status":true,"nzo_ids":\["SABnzbd_nzo_[0-9a-f]{32}"\]\}$""", text);
    }

    [Theory]
    [InlineData(0, false)]
    [InlineData(1, false)]
    [InlineData(0, true)]
    [InlineData(1, true)]
    public async Task PUT_body_is_accepted_up_to_the_exact_limit(int beyond, bool isChunked)
    {
        await using var host = await ProductHost.StartAsync(_folder, null, null, ("MAX_REQUEST_BODY_SIZE", $"{Limit}"));

        using var call = new HttpRequestMessage(HttpMethod.Put, new Uri("/nzbs/tv/a.nzb", UriKind.Relative));
        call.Headers.Authorization = new AuthenticationHeaderValue("Basic", Convert.ToBase64String(Encoding.UTF8.GetBytes($"admin:{ProductHost.Password}")));
        call.Content = Body(new string(' ', Limit + beyond), isChunked);
        using var answer = await host.Client.SendAsync(call, Token);

        Assert.Equal(beyond > 0 ? HttpStatusCode.RequestEntityTooLarge : HttpStatusCode.Created, answer.StatusCode);
    }

    private static ByteArrayContent Body(string text, bool isChunked)
    {
        var content = isChunked ? new UnannouncedContent(text) : new ByteArrayContent(Encoding.ASCII.GetBytes(text));
        return content;
    }

    /// <summary>A body without a Content-Length.</summary>
    private sealed class UnannouncedContent(string text) : ByteArrayContent(Encoding.ASCII.GetBytes(text))
    {
        protected override bool TryComputeLength(out long length)
        {
            length = 0;
            return false;
        }
    }
}
