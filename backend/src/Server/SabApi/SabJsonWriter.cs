using System.Buffers;
using System.Text.Encodings.Web;
using System.Text.Json;

namespace Sluice.Server.SabApi;

/// <summary>An answer in JSON.</summary>
internal sealed class SabJsonWriter : ISabWriter
{
    private static readonly JsonWriterOptions Options = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    private readonly Utf8JsonWriter _json;

    /// <summary>Begins the answer.</summary>
    public SabJsonWriter(IBufferWriter<byte> output)
    {
        _json = new Utf8JsonWriter(output, Options);
        _json.WriteStartObject();
    }

    /// <inheritdoc/>
    public void BeginObject(string? name = null)
    {
        WriteName(name);
        _json.WriteStartObject();
    }

    /// <inheritdoc/>
    public void EndObject() => _json.WriteEndObject();

    /// <inheritdoc/>
    public void BeginList(string name)
    {
        WriteName(name);
        _json.WriteStartArray();
    }

    /// <inheritdoc/>
    public void EndList() => _json.WriteEndArray();

    /// <inheritdoc/>
    public void Field(string? name, string? value)
    {
        WriteName(name);
        _json.WriteStringValue(value);
    }

    /// <inheritdoc/>
    public void Field(string? name, long value)
    {
        WriteName(name);
        _json.WriteNumberValue(value);
    }

    /// <inheritdoc/>
    public void Field(string? name, bool value)
    {
        WriteName(name);
        _json.WriteBooleanValue(value);
    }

    /// <inheritdoc/>
    public void Complete() => _json.WriteEndObject();

    /// <inheritdoc/>
    public void Flush() => _json.Flush();

    /// <inheritdoc/>
    public void Dispose() => _json.Dispose();

    private void WriteName(string? name)
    {
        if (name is not null)
            _json.WritePropertyName(name);
    }
}
