using System.Net;
using System.Net.Http.Headers;
using Sluice.Tools.FullNzbTester.Sessions;

namespace Sluice.Tools.FullNzbTester.Server;

/// <summary>Reads one file of the server as players do: a GET from an offset, disconnected after use.</summary>
internal sealed class ServerStream(HttpClient http, Uri url, long length, long position, long? end) : IContentStream
{
    private readonly long _end = end ?? length;
    private HttpResponseMessage? _answer;
    private Stream? _body;
    private long _position = position;

    public async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken)
    {
        if (_position >= _end)
            return 0;
        try
        {
            _body ??= await OpenAsync(cancellationToken);
            var read = await _body.ReadAsync(buffer, cancellationToken);
            if (read == 0)
                throw new EndOfStreamException($"The answer ended at {_position} of {_end}.");
            _position += read;
            return read;
        }
        catch (HttpRequestException error)
        {
            throw new IOException($"The server does not answer: {error.Message}", error);
        }
    }

    /// <summary>Starts another request, because every seek of a player does so.</summary>
    public void Seek(long position)
    {
        HangUp();
        _position = position;
    }

    public ValueTask DisposeAsync()
    {
        HangUp();
        return ValueTask.CompletedTask;
    }

    private async Task<Stream> OpenAsync(CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, url);
        request.Headers.Range = new RangeHeaderValue(_position, end - 1);
        _answer = await http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, cancellationToken);
        if (_answer.StatusCode != HttpStatusCode.PartialContent)
            throw new UnansweredException(_answer.StatusCode);
        if (_answer.Content.Headers.ContentRange is not { From: { } from, To: { } to, Length: { } whole } || from != _position || to != _end - 1 || whole != length)
            throw new IOException($"Asked for {_position}-{_end - 1}/{length}, the server sends {_answer.Content.Headers.ContentRange}.");
        return await _answer.Content.ReadAsStreamAsync(cancellationToken);
    }

    private void HangUp()
    {
        _body?.Dispose();
        _answer?.Dispose();
        (_body, _answer) = (null, null);
    }
}

/// <summary>Thrown if the server responds with an error status instead of bytes.</summary>
internal sealed class UnansweredException(HttpStatusCode status) : IOException($"The server answers {(int)status}.")
{
    public HttpStatusCode Status => status;
}
