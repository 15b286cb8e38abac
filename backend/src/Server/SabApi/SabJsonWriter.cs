using System.Buffers;
using System.Text.Encodings.Web;
using System.Text.Json;

namespace Sluice.Server.SabApi;

internal sealed class SabJsonWriter : ISabWriter
{
    private static readonly JsonWriterOptions Options = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    private readonly Utf8JsonWriter _json;

    public SabJsonWriter(IBufferWriter<byte> output)
    {
        _json = new Utf8JsonWriter(output, Options);
        _json.WriteStartObject();
    }

    public void BeginObject(string? name = null)
    {
        WriteName(name);
        _json.WriteStartObject();
    }

    public void EndObject() => _json.WriteEndObject();

    public void BeginList(string name)
    {
        WriteName(name);
        _json.WriteStartArray();
    }

    public void EndList() => _json.WriteEndArray();

    public void Field(string? name, string? value)
    {
        WriteName(name);
        _json.WriteStringValue(value);
    }

    public void Field(string? name, long value)
    {
        WriteName(name);
        _json.WriteNumberValue(value);
    }

    public void Field(string? name, bool value)
    {
        WriteName(name);
        _json.WriteBooleanValue(value);
    }

    public void Complete() => _json.WriteEndObject();

    public void Flush() => _json.Flush();

    public void Dispose() => _json.Dispose();

    private void WriteName(string? name)
    {
        if (name is not null)
            _json.WritePropertyName(name);
    }
}
