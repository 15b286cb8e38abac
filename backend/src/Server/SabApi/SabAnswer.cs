using System.Text.Encodings.Web;
using System.Text.Json;

namespace Sluice.Server.SabApi;

/// <summary>Writes answers in the form of SAB-3. Numbers and texts never depend on the culture of the server.</summary>
internal static class SabAnswer
{
    // Kept low enough for the first byte of a long list to leave early.
    private const int FlushAt = 16 << 10;

    private static readonly JsonWriterOptions Options = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    /// <summary>Begins a JSON answer; the writer writes straight into the response.</summary>
    public static Utf8JsonWriter Begin(HttpContext http, int status = StatusCodes.Status200OK)
    {
        SetHeaders(http, status, "application/json;charset=UTF-8");
        return new Utf8JsonWriter(http.Response.BodyWriter, Options);
    }

    /// <summary>Sends what has been written once it is worth it; call it between the rows of a list.</summary>
    public static async ValueTask FlushIfDueAsync(this Utf8JsonWriter json, HttpContext http)
    {
        if (json.BytesPending < FlushAt)
            return;
        json.Flush();
        await http.Response.BodyWriter.FlushAsync(http.RequestAborted);
    }

    /// <summary>Sends the rest.</summary>
    public static async Task EndAsync(this Utf8JsonWriter json, HttpContext http)
    {
        json.Flush();
        await http.Response.BodyWriter.FlushAsync(http.RequestAborted);
    }

    /// <summary>A whole answer.</summary>
    public static async Task WriteAsync(HttpContext http, Action<Utf8JsonWriter> write, int status = StatusCodes.Status200OK)
    {
        await using var json = Begin(http, status);
        json.WriteStartObject();
        write(json);
        json.WriteEndObject();
        await json.EndAsync(http);
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
