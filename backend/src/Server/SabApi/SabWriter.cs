using System.Buffers;
using System.Text.Encodings.Web;
using System.Text.Json;

namespace Sluice.Server.SabApi;

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

    /// <summary>Takes what is to be sent.</summary>
    public Utf8JsonWriter Json => _json ??= new Utf8JsonWriter(_unsent, Options);

    /// <summary>Sends what has been written once it is worth it; call it between the rows of a list.</summary>
    public ValueTask SendIfDueAsync() => _unsent.WrittenCount + Json.BytesPending < SendAt ? ValueTask.CompletedTask : SendAsync();

    /// <summary>Sends what has been written.</summary>
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
