using System.Buffers;
using System.Text.Encodings.Web;
using System.Text.Json;

namespace Sluice.Server.SabApi;

/// <summary>Writes answers in the form of SAB-3. Numbers and texts never depend on the culture of the server.</summary>
internal static class SabAnswer
{
    /// <summary>Begins a JSON answer. The caller disposes the writer.</summary>
    public static SabWriter Begin(HttpContext http, int status = StatusCodes.Status200OK)
    {
        SetHeaders(http, status, "application/json;charset=UTF-8");
        return new SabWriter(http);
    }

    /// <summary>A whole answer.</summary>
    public static async Task WriteAsync(HttpContext http, Action<Utf8JsonWriter> write, int status = StatusCodes.Status200OK)
    {
        using var answer = Begin(http, status);
        answer.Json.WriteStartObject();
        write(answer.Json);
        answer.Json.WriteEndObject();
        await answer.SendAsync();
    }

    /// <summary>An error; HTTP 200 unless the contract says otherwise.</summary>
    public static Task ErrorAsync(HttpContext http, string text, int status = StatusCodes.Status200OK) =>
        WriteAsync(
            http,
            json =>
            {
                json.WriteBoolean("status", false);
                json.WriteString("error", text);
            },
            status);

    /// <summary>A refusal as bare text.</summary>
    public static Task PlainAsync(HttpContext http, int status, string text)
    {
        SetHeaders(http, status, "text/html;charset=utf-8");
        return http.Response.WriteAsync(text, http.RequestAborted);
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
/// Writes a JSON answer through a buffer of its own. When writing fails before any of it was sent, none of it ever is, and the
/// failure has an answer for itself; later the connection is reset. Half of an answer never looks like a whole one.
/// </summary>
internal sealed class SabWriter(HttpContext http) : IDisposable
{
    // Kept low enough for the first byte of a long list to leave early.
    private const int SendAt = 16 << 10;

    private static readonly JsonWriterOptions Options = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    private readonly ArrayBufferWriter<byte> _unsent = new();
    private Utf8JsonWriter? _json;

    /// <summary>The JSON writer of the answer.</summary>
    public Utf8JsonWriter Json => _json ??= new Utf8JsonWriter(_unsent, Options);

    /// <summary>Sends the written bytes once they are enough; call it between the rows of a list.</summary>
    public ValueTask SendIfDueAsync() => _unsent.WrittenCount + Json.BytesPending < SendAt ? ValueTask.CompletedTask : SendAsync();

    /// <summary>Sends the written bytes.</summary>
    public async ValueTask SendAsync()
    {
        Json.Flush();
        http.Response.BodyWriter.Write(_unsent.WrittenSpan);
        _unsent.ResetWrittenCount();
        await http.Response.BodyWriter.FlushAsync(http.RequestAborted);
    }

    /// <inheritdoc/>
    public void Dispose() => _json?.Dispose();
}
