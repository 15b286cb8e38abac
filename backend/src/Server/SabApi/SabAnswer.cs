using System.Buffers;

namespace Sluice.Server.SabApi;

/// <summary>Writes answers in the form of SAB-3 or SAB-60. Numbers and texts never depend on the culture of the server.</summary>
internal static class SabAnswer
{
    private const string Json = "application/json;charset=UTF-8";
    private const string Xml = "text/xml;charset=utf-8";
    private const string Text = "text/html;charset=utf-8";

    /// <summary>Begins an answer that is one named value, in the form that the call asks for. The caller disposes it.</summary>
    public static SabReply Begin(SabCall call) => Begin(call, isResult: false);

    /// <summary>A whole answer that is one named value.</summary>
    public static Task WriteAsync(SabCall call, Action<ISabWriter> write) => SendAsync(Begin(call), write);

    /// <summary>A whole answer of several fields.</summary>
    public static Task ResultAsync(SabCall call, Action<ISabWriter> write) => SendAsync(Begin(call, isResult: true), write);

    /// <summary>That a call has done its work, or has not.</summary>
    public static Task StatusAsync(SabCall call, bool status) => ResultAsync(call, to => to.Field("status", status));

    /// <summary>The same for calls whose outer element in XML is the status itself.</summary>
    public static Task BareStatusAsync(SabCall call, bool status) => WriteAsync(call, to => to.Field("status", status));

    /// <summary>What a call has done to items.</summary>
    public static Task ItemsAsync(SabCall call, bool status, IEnumerable<string> ids) =>
        ResultAsync(
            call,
            to =>
            {
                to.Field("status", status);
                to.Texts("nzo_ids", ids);
            });

    /// <summary>An error, with HTTP 200.</summary>
    public static Task ErrorAsync(SabCall call, string text) => ResultAsync(call, to => WriteError(to, text));

    /// <summary>Answers a change of the pause, which fails if the environment sets it.</summary>
    public static async Task PauseAsync(SabCall call, Task<bool> change) => await (await change ? StatusAsync(call, true) : ErrorAsync(call, SabTexts.ConfigLocked));

    /// <summary>A refusal, which is JSON whatever the call asks for (SAB-62).</summary>
    public static Task RefuseAsync(HttpContext http, int status, string text)
    {
        SetHeaders(http, status, Json);
        return SendAsync(new SabReply(http, output => new SabJsonWriter(output)), to => WriteError(to, text));
    }

    /// <summary>A refusal as bare text.</summary>
    public static Task PlainAsync(HttpContext http, int status, string text)
    {
        SetHeaders(http, status, Text);
        return http.Response.WriteAsync(text, http.RequestAborted);
    }

    /// <summary>Writes a list of texts.</summary>
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
/// An answer on its way, through a buffer of its own. When writing fails before any of it was sent, none of it ever is, and the
/// failure has an answer for itself; later the connection is reset. Half of an answer never looks like a whole one.
/// </summary>
internal sealed class SabReply : IDisposable
{
    // Kept low enough for the first byte of a long list to leave early.
    private const int SendAt = 16 << 10;

    private readonly HttpContext _http;
    private readonly ArrayBufferWriter<byte> _unsent = new();

    /// <summary>Begins the answer; nothing is sent yet.</summary>
    public SabReply(HttpContext http, Func<IBufferWriter<byte>, ISabWriter> form) => (_http, Writer) = (http, form(_unsent));

    /// <summary>Takes the fields of the answer.</summary>
    public ISabWriter Writer { get; }

    /// <summary>Sends what was written once it is enough; call it between the rows of a list.</summary>
    public ValueTask SendIfDueAsync()
    {
        Writer.Flush();
        return _unsent.WrittenCount < SendAt ? ValueTask.CompletedTask : SendAsync();
    }

    /// <summary>Ends the answer and sends the rest of it.</summary>
    public ValueTask CompleteAsync()
    {
        Writer.Complete();
        Writer.Flush();
        return SendAsync();
    }

    /// <inheritdoc/>
    public void Dispose() => Writer.Dispose();

    private async ValueTask SendAsync()
    {
        _http.Response.BodyWriter.Write(_unsent.WrittenSpan);
        _unsent.ResetWrittenCount();
        await _http.Response.BodyWriter.FlushAsync(_http.RequestAborted);
    }
}
