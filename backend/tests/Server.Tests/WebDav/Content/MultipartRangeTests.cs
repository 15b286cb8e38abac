using System.Globalization;
using System.Text;
using Sluice.Server.WebDav;
using Sluice.Server.WebDav.Content;
using Sluice.Testing.WebDav;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

/// <summary>Several ranges over the wire: the rows of the range table with a <c>multipart/byteranges</c> response, and S24.</summary>
public sealed class MultipartRangeTests : IAsyncLifetime
{
    private static readonly byte[] Bytes = [.. Enumerable.Range(0, 1_000_000).Select(i => (byte)(i * 31 >> 3))];

    private DavTestServer _server = null!;
    private MemoryFile _film = null!;

    public async ValueTask InitializeAsync()
    {
        _server = await DavTestServer.StartAsync();
        _film = _server.Store.Root.Add(new MemoryFile("film.mkv", Bytes));
    }

    public async ValueTask DisposeAsync() => await _server.DisposeAsync();

    [Theory]
    [InlineData("bytes=0-9,100-199", 2)]
    [InlineData("bytes=500000-600000,-1,0-0", 3)]
    [InlineData("bytes=0-1,4-5,8-9,12-13,900000-", 5)]
    [InlineData("bytes=0-9,5-14,100-199,2000000-", 2)]
    public async Task Multipart_body_matches_its_parts_and_Content_Length(string range, int count)
    {
        var answer = await _server.SendAsync("GET /film.mkv", $"Range: {range}");

        Assert.Equal(206, answer.Status);
        Assert.True(answer.IsComplete);
        Assert.Equal(answer.Body.Length.ToString(CultureInfo.InvariantCulture), answer["Content-Length"]);
        Assert.Null(answer["Transfer-Encoding"]);
        Assert.Null(answer["Content-Range"]);
        Assert.Equal(_film.ETag.ToString(), answer["ETag"]);
        var expected = RangeHeader.Parse(range, Bytes.Length);
        Assert.Equal(count, expected.Count);
        Assert.Equal(count, _film.Opened);
        Assert.Equal(Expected(answer["Content-Type"]!, expected), answer.Body);
    }

    [Theory]
    [InlineData("bytes=0-9,10-19", 0, 20)]
    [InlineData("bytes=100-199,50-150,2000000-", 50, 150)]
    [InlineData("bytes=0-9,2000000-", 0, 10)]
    public async Task Ranges_merged_into_one_part_return_a_plain_206(string range, int offset, int length)
    {
        var answer = await _server.SendAsync("GET /film.mkv", $"Range: {range}");

        Assert.Equal(206, answer.Status);
        Assert.Equal("video/x-matroska", answer["Content-Type"]);
        Assert.Equal($"bytes {offset}-{offset + length - 1}/{Bytes.Length}", answer["Content-Range"]);
        Assert.Equal(Bytes[offset..(offset + length)], answer.Body);
    }

    [Fact]
    public async Task Overlapping_ranges_never_send_more_than_the_file()
    {
        // As many ranges as the limit of the request headers allows.
        var range = "bytes=" + string.Join(',', Enumerable.Range(0, 6000).Select(i => $"{i % 10}-"));

        var answer = await _server.SendAsync("GET /film.mkv", $"Range: {range}");

        Assert.Equal(206, answer.Status);
        Assert.Equal(Bytes, answer.Body);
        Assert.Equal(1, _film.Opened);
    }

    [Fact]
    public async Task Unavailable_later_part_resets_the_response()
    {
        // The read fails only after the client has the headers, because a reset may overtake bytes sent before it.
        var reached = new TaskCompletionSource();
        _server.Store.Root.Add(new MemoryFile("hole.mkv", Bytes)
        {
            Opening = async (offset, length, cancellationToken) =>
            {
                if (offset < 1000)
                    return new MemoryStream(Bytes, (int)offset, (int)length);
                await reached.Task.WaitAsync(cancellationToken);
                throw new ContentUnavailableException(ContentFault.Gone, "Gone.");
            },
        });

        await using var connection = await _server.ConnectAsync();
        await connection.SendAsync("GET /hole.mkv", "Range: bytes=0-9,5000-5009");
        var answer = await connection.ReadHeadAsync();
        reached.SetResult();
        await connection.ReadBodyAsync(answer);
        var first = await _server.SendAsync("GET /hole.mkv", "Range: bytes=5000-5009,0-9");

        Assert.Equal(206, answer.Status);
        Assert.False(answer.IsComplete);
        Assert.True(answer.WasReset);
        Assert.Equal(410, first.Status);
    }

    private static byte[] Expected(string contentType, IReadOnlyList<ByteRange> parts)
    {
        const string prefix = "multipart/byteranges; boundary=";
        Assert.StartsWith(prefix, contentType, StringComparison.Ordinal);
        var boundary = contentType[prefix.Length..];
        using var body = new MemoryStream();
        foreach (var part in parts)
        {
            var start = body.Length == 0 ? "" : "\r\n";
            body.Write(Encoding.ASCII.GetBytes(
                $"{start}--{boundary}\r\nContent-Type: video/x-matroska\r\nContent-Range: {part.ContentRange}\r\n\r\n"));
            body.Write(Bytes, (int)part.Offset, (int)part.Length);
        }

        body.Write(Encoding.ASCII.GetBytes($"\r\n--{boundary}--\r\n"));
        return body.ToArray();
    }
}
