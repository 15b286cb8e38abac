using Sluice.Testing.WebDav;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

/// <summary>Responses on one connection arrive in request order, while Kestrel writes the heads and SocketOutput the blocks between them.</summary>
public sealed class PipelinedAnswersTests
{
    private const int Length = 3 << 20;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Pipelined_requests_are_answered_in_order(bool isDirect)
    {
        await using var server = await DavTestServer.StartAsync(isDirect: isDirect);
        var film = new byte[Length];
        new Random(7).NextBytes(film);
        server.Store.Root.Add(new MemoryFile("film.mkv", film)
        {
            Opening = (offset, length, _) => ValueTask.FromResult(server.Served(new MemoryStream(film, (int)offset, (int)length))),
        });
        server.Store.Root.Add(new MemoryFile("small.nfo", film[..100]));

        string[] requests =
        [
            "GET /film.mkv", "HEAD /film.mkv", "GET /none", "GET /film.mkv\r\nRange: bytes=1000-1000999", "GET /small.nfo",
            "GET /film.mkv\r\nRange: bytes=0-0", "PROPFIND /", "GET /film.mkv\r\nRange: bytes=10-19,30-2000029", "GET /film.mkv",
        ];
        await using var client = await server.ConnectAsync();
        var asked = client.SendRawAsync(string.Concat(requests.Select(request =>
            $"{request[..(request.Contains('\r', StringComparison.Ordinal) ? request.IndexOf('\r', StringComparison.Ordinal) : request.Length)]} HTTP/1.1\r\nHost: x{(request.Contains('\r', StringComparison.Ordinal) ? request[request.IndexOf('\r', StringComparison.Ordinal)..] : "")}\r\n\r\n")));

        var answers = new List<RawAnswer>();
        foreach (var request in requests)
            answers.Add(await client.ReadAnswerAsync(isHead: request.StartsWith("HEAD", StringComparison.Ordinal)));
        await asked;

        Assert.Equal([200, 200, 404, 206, 200, 206, 207, 206, 200], answers.Select(answer => answer.Status));
        Assert.All(answers.Where((_, i) => i != 1), answer => Assert.True(answer.IsComplete));
        Assert.Equal(film, answers[0].Body);
        Assert.Equal(film[1000..1_001_000], answers[3].Body);
        Assert.Equal(film[..100], answers[4].Body);
        Assert.Equal(film[..1], answers[5].Body);
        Assert.True(answers[7].Body.AsSpan().IndexOf(film.AsSpan(30, 2_000_000)) > 0);
        Assert.Equal(film, answers[8].Body);
        while (server.LentBlocks > 0)
            await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, Token);
    }
}
