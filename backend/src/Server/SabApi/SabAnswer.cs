using System.Buffers;

namespace Sluice.Server.SabApi;

/// <summary>Writes responses in the formats of SAB-3 and SAB-60, independently of the server's culture.</summary>
internal static class SabAnswer
{
    private const string Json = "application/json;charset=UTF-8";
    private const string Xml = "text/xml;charset=utf-8";
    private const string Text = "text/html;charset=utf-8";

    /// <summary>Starts a response with one named value. The caller disposes it.</summary>
    public static SabReply Begin(SabCall call) => Begin(call, isResult: false);

    /// <summary>Writes a response with one named value.</summary>
    public static Task WriteAsync(SabCall call, Action<ISabWriter> write) => SendAsync(Begin(call), write);

    /// <summary>Writes a response with several fields.</summary>
    public static Task ResultAsync(SabCall call, Action<ISabWriter> write) => SendAsync(Begin(call, isResult: true), write);

    public static Task StatusAsync(SabCall call, bool status) => ResultAsync(call, to => to.Field("status", status));

    /// <summary>Responds to calls whose outer XML element is the status itself.</summary>
    public static Task BareStatusAsync(SabCall call, bool status) => WriteAsync(call, to => to.Field("status", status));

    public static Task ItemsAsync(SabCall call, bool status, IEnumerable<string> ids) =>
        ResultAsync(
            call,
            to =>
            {
                to.Field("status", status);
                to.Texts("nzo_ids", ids);
            });

    /// <summary>Responds to an error with HTTP 200, as SABnzbd does.</summary>
    public static Task ErrorAsync(SabCall call, string text) => ResultAsync(call, to => WriteError(to, text));

    /// <summary>Responds to a pause or resume, which fails if an environment variable sets the pause.</summary>
    public static async Task PauseAsync(SabCall call, Task<bool> change) => await (await change ? StatusAsync(call, true) : ErrorAsync(call, SabTexts.ConfigLocked));

    /// <summary>Refuses a call. The response body is always JSON (SAB-62).</summary>
    public static Task RefuseAsync(HttpContext http, int status, string text)
    {
        SetHeaders(http, status, Json);
        return SendAsync(new SabReply(http, output => new SabJsonWriter(output)), to => WriteError(to, text));
    }

    /// <summary>Refuses a call with plain text.</summary>
    public static Task PlainAsync(HttpContext http, int status, string text)
    {
        SetHeaders(http, status, Text);
        return http.Response.WriteAsync(text, http.RequestAborted);
    }

    public static void Texts(this ISabWriter to, string name, IEnumerable<string> values)
    {
        to.BeginList(name);
        foreach (var value in values)
            to.Field(null, value);
        to.EndList();
    }

    private static SabReply Begin(SabCall call, bool isResult)
    {
        SetHeaders(call.Http, StatusCodes.Status200OK, call.IsXml ? Xml : Json);
        return new SabReply(call.Http, output => call.IsXml ? new SabXmlWriter(output, isResult) : new SabJsonWriter(output));
    }

    private static async Task SendAsync(SabReply reply, Action<ISabWriter> write)
    {
        using (reply)
        {
            write(reply.Writer);
            await reply.CompleteAsync();
        }
    }

    private static void WriteError(ISabWriter to, string text)
    {
        to.Field("status", false);
        to.Field("error", text);
    }

    private static void SetHeaders(HttpContext http, int status, string contentType)
    {
        http.Response.StatusCode = status;
        http.Response.ContentType = contentType;
        http.Response.Headers.Pragma = "no-cache";
        http.Response.Headers.CacheControl = "no-store";
        http.Response.Headers.AccessControlAllowOrigin = "*";
    }
}

/// <summary>
/// A response in progress, with its own buffer. Until the first byte is sent, an error response can replace it. After that, a failure resets the connection, so
/// that a partial response never looks complete.
/// </summary>
internal sealed class SabReply : IDisposable
{
    // Small, so that the beginning of a long list arrives early.
    private const int SendAt = 16 << 10;

    private readonly HttpContext _http;
    private readonly ArrayBufferWriter<byte> _unsent = new();

    public SabReply(HttpContext http, Func<IBufferWriter<byte>, ISabWriter> form) => (_http, Writer) = (http, form(_unsent));

    public ISabWriter Writer { get; }

    /// <summary>Sends the buffer if it is large enough. Must be called between rows.</summary>
    public ValueTask SendIfDueAsync()
    {
        Writer.Flush();
        return _unsent.WrittenCount < SendAt ? ValueTask.CompletedTask : SendAsync();
    }

    /// <summary>Completes the response and sends the remaining bytes.</summary>
    public ValueTask CompleteAsync()
    {
        Writer.Complete();
        Writer.Flush();
        return SendAsync();
    }

    public void Dispose() => Writer.Dispose();

    private async ValueTask SendAsync()
    {
        _http.Response.BodyWriter.Write(_unsent.WrittenSpan);
        _unsent.ResetWrittenCount();
        await _http.Response.BodyWriter.FlushAsync(_http.RequestAborted);
    }
}
