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
