using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Tester;

/// <summary>
/// Fakes the parts of a server that FullNzbTester uses: an API that accepts NZBs, a listing, and files. It computes the bytes instead of
/// fetching them, so the verdict depends on the tester alone. Each part can be wrong on purpose.
/// </summary>
internal sealed class PretendedServer : IAsyncDisposable
{
    public const string KeyVariable = "SLUICE_TESTER_TEST_KEY";
    public const string PassVariable = "SLUICE_TESTER_TEST_PASS";

    private readonly HttpListener _http = new();
    private readonly Task _serving;
    private readonly Dictionary<string, MockMessageId> _releases = [];

    public PretendedServer()
    {
        Environment.SetEnvironmentVariable(KeyVariable, "0123456789abcdef");
        Environment.SetEnvironmentVariable(PassVariable, "correct-horse");
        Url = $"http://127.0.0.1:{FreePort()}/";
        _http.Prefixes.Add(Url);
        _http.Start();
        _serving = ServeAsync();
    }

    public string Url { get; }

    /// <summary>Offset of a wrong byte in every file.</summary>
    public long? WrongAt { get; init; }

    /// <summary>Offset at which every answer is aborted.</summary>
    public long? CutAt { get; init; }

    /// <summary>Bytes by which the listing overstates the length.</summary>
    public int Overstated { get; init; }

    /// <summary>Error message of every import.</summary>
    public string? Failure { get; init; }

    public string[] Flags => [$"--server={Url}", $"--api-key-env={KeyVariable}", $"--webdav-pass-env={PassVariable}"];

    public async ValueTask DisposeAsync()
    {
        _http.Stop();
        await _serving;
        _http.Close();
    }

    private static int FreePort()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return ((IPEndPoint)listener.LocalEndpoint).Port;
    }

    private async Task ServeAsync()
    {
        var answers = new List<Task>();
        try
        {
            while (true)
                answers.Add(AnswerAsync(await _http.GetContextAsync()));
        }
        catch (Exception end) when (end is HttpListenerException or ObjectDisposedException)
        {
            await Task.WhenAll(answers);
        }
    }

    private async Task AnswerAsync(HttpListenerContext context)
    {
        try
        {
            var request = context.Request;
            var known = request.Url!.AbsolutePath == "/api" ? request.Headers["X-Api-Key"] == "0123456789abcdef" : request.Headers["Authorization"] is not null;
            if (!known)
                await TellAsync(context, 403, "API Key Incorrect");
            else if (request.QueryString["mode"] == "addfile")
                await TellAsync(context, 200, $$"""{"status":true,"nzo_ids":["{{await TakeAsync(request)}}"]}""");
            else if (request.QueryString["mode"] == "history")
                await TellAsync(context, 200, History(request.QueryString["nzo_ids"]!));
            else if (request.HttpMethod == "PROPFIND")
                await TellAsync(context, 207, Listing(request.Url.AbsolutePath));
            else
                await SendAsync(context, _releases[request.Url.Segments[^2].TrimEnd('/')]);
        }
        catch (Exception gone) when (gone is HttpListenerException or IOException or ObjectDisposedException)
        {
            // The client has disconnected, as players do.
        }
    }

    private async Task<string> TakeAsync(HttpListenerRequest request)
    {
        using var body = new MemoryStream();
        await request.InputStream.CopyToAsync(body);
        var text = Encoding.UTF8.GetString(body.ToArray());
        using var nzb = new MemoryStream(Encoding.UTF8.GetBytes(text[text.IndexOf("<?xml", StringComparison.Ordinal)..(text.LastIndexOf('>') + 1)]));
        await foreach (var file in NzbReader.ReadAsync(nzb, limits: null, new NzbHead(), CancellationToken.None))
        {
            Assert.True(MockMessageId.TryParse(file.Segments.First().Ids.Primary.ToString(), out var id));
            lock (_releases)
                _releases[$"plain-{id.Seed}"] = id;
            return $"plain-{id.Seed}";
        }

        throw new InvalidDataException("The NZB has no file.");
    }

    private string History(string id) => $$"""
        {"history":{"slots":[{"nzo_id":"other","status":"Failed"},
        {"nzo_id":"{{id}}","status":"{{(Failure is null ? "Completed" : "Failed")}}","storage":"/mnt/x/movies/{{id}}","fail_message":"{{Failure}}"}
        ] } }
        """;

    private string Listing(string folder) => $"""
        <D:multistatus xmlns:D="DAV:">
        <D:response><D:href>{folder}</D:href><D:propstat><D:prop><D:resourcetype><D:collection/></D:resourcetype></D:prop></D:propstat></D:response>
        <D:response><D:href>{folder}film.mkv</D:href><D:propstat><D:prop><D:getcontentlength>{_releases[folder.Split('/')[^2]].FileSize + Overstated}</D:getcontentlength><D:resourcetype/></D:prop></D:propstat></D:response>
        </D:multistatus>
        """;

    private async Task SendAsync(HttpListenerContext context, MockMessageId file)
    {
        var range = context.Request.Headers["Range"]!["bytes=".Length..].Split('-');
        var from = long.Parse(range[0], CultureInfo.InvariantCulture);
        var to = range[1].Length > 0 ? long.Parse(range[1], CultureInfo.InvariantCulture) : file.FileSize - 1;
        var bytes = new byte[to - from + 1];
        SyntheticContent.Fill(file.Seed, file.File, from, bytes);
        if (WrongAt is { } wrong && wrong >= from && wrong <= to)
            bytes[wrong - from] ^= 1;
        context.Response.StatusCode = 206;
        context.Response.ContentLength64 = bytes.Length;
        context.Response.Headers["Content-Range"] = string.Create(CultureInfo.InvariantCulture, $"bytes {from}-{to}/{file.FileSize}");
        await context.Response.OutputStream.WriteAsync(bytes.AsMemory(0, (int)Math.Clamp((CutAt ?? long.MaxValue) - from, 1, bytes.Length)));
        if (CutAt < to)
            context.Response.Abort();
        else
            context.Response.Close();
    }

    private static async Task TellAsync(HttpListenerContext context, int status, string text)
    {
        context.Response.StatusCode = status;
        await context.Response.OutputStream.WriteAsync(Encoding.UTF8.GetBytes(text));
        context.Response.Close();
    }
}
