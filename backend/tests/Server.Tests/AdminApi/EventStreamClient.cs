using System.Net;
using System.Text.Json.Nodes;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>A frame as a client receives it; a comment has no topic.</summary>
internal sealed record SeenFrame(string Topic, string Id, JsonNode? Data)
{
    public string Kind => Data!["kind"]!.ToString();

    public long Seq => Data!["seq"]!.GetValue<long>();
}

/// <summary>Reads an event stream as a browser does.</summary>
internal sealed class EventStreamClient(HttpResponseMessage answer, StreamReader reader) : IDisposable
{
    public HttpResponseMessage Answer => answer;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public static async Task<EventStreamClient> OpenAsync(HttpClient client, string query, params (string Name, string Value)[] headers)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, $"api/events?{query}");
        foreach (var (name, value) in headers)
            request.Headers.TryAddWithoutValidation(name, value);
        var answer = await client.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, Token);
        return new EventStreamClient(answer, new StreamReader(await answer.Content.ReadAsStreamAsync(Token)));
    }

    /// <summary>Opens a stream; fails unless the server accepts it.</summary>
    public static async Task<EventStreamClient> WatchAsync(HttpClient client, string query, params (string Name, string Value)[] headers)
    {
        var stream = await OpenAsync(client, query, headers);
        Assert.Equal(HttpStatusCode.OK, stream.Answer.StatusCode);
        Assert.Equal("text/event-stream", stream.Answer.Content.Headers.ContentType?.MediaType);
        return stream;
    }

    /// <summary>Reads the next frame or comment; null at the end of the stream.</summary>
    public async Task<SeenFrame?> ReadAnyAsync()
    {
        var (topic, id, data, hasLines) = ("", "", (JsonNode?)null, false);
        while (await reader.ReadLineAsync(Token) is { } line)
        {
            if (line.Length == 0 && hasLines)
                return new SeenFrame(topic, id, data);
            hasLines |= line.Length > 0 && !line.StartsWith("retry:", StringComparison.Ordinal);
            if (line.StartsWith("event: ", StringComparison.Ordinal))
                topic = line[7..];
            else if (line.StartsWith("id: ", StringComparison.Ordinal))
                id = line[4..];
            else if (line.StartsWith("data: ", StringComparison.Ordinal))
                data = JsonNode.Parse(line[6..]);
        }

        return null;
    }

    /// <summary>Reads the next frame and skips comments; fails at the end of the stream.</summary>
    public async Task<SeenFrame> ReadAsync()
    {
        while (await ReadAnyAsync() is { } frame)
        {
            if (frame.Topic.Length > 0)
                return frame;
        }

        throw new EndOfStreamException("The event stream has ended.");
    }

    public async Task ReadToEndAsync()
    {
        while (await ReadAnyAsync() is not null)
        {
        }
    }

    public void Dispose()
    {
        reader.Dispose();
        answer.Dispose();
    }
}
