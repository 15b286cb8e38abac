using System.Globalization;
using System.Text.Json;

namespace Sluice.Tools.MockNntpServer.Control;

internal static class StatsJson
{
    public static byte[] Write(MockServer mock)
    {
        using var output = new MemoryStream();
        using (var json = new Utf8JsonWriter(output, new JsonWriterOptions { Indented = true }))
        {
            json.WriteStartObject();
            var unaccepted = mock.HaveUnaccepted;
            Write(json, mock.Stats, unaccepted.Contains(true));
            json.WriteStartArray("providers");
            foreach (var (stats, hasUnaccepted) in mock.ProviderStats.Zip(unaccepted))
            {
                json.WriteStartObject();
                Write(json, stats, hasUnaccepted);
                json.WriteEndObject();
            }

            json.WriteEndArray();
            json.WriteEndObject();
        }

        return output.ToArray();
    }

    private static void Write(Utf8JsonWriter json, MockStats stats, bool hasUnaccepted)
    {
        json.WriteStartObject("connections");
        json.WriteNumber("now", stats.ConnectionsNow);
        json.WriteNumber("peak", stats.ConnectionsPeak);
        json.WriteNumber("busy_peak", stats.BusyPeak);
        json.WriteNumber("opened", stats.Opened);
        json.WriteNumber("refused", stats.Refused);
        json.WriteNumber("handshakes_failed", stats.HandshakesFailed);
        json.WriteNumber("handshakes_peak", stats.HandshakesPeak);
        json.WriteBoolean("unaccepted", hasUnaccepted);
        json.WriteEndObject();
        Write(json, "commands", stats.Commands);
        Write(json, "bodies_by_file", stats.BodiesByFile.ToDictionary(file => file.Key.ToString(CultureInfo.InvariantCulture), file => file.Value));
        json.WriteNumber("articles", stats.Articles);
        json.WriteNumber("bytes", stats.Bytes);
        Write(json, "faults", stats.Faults);
        json.WriteNumber("deepest_pipeline", stats.DeepestPipeline);
        json.WriteNumber("cancelled_bodies", stats.CancelledBodies);
        json.WriteNumber("unanswered", stats.Unanswered);
        json.WriteNumber("waiting", stats.Waiting);
    }

    private static void Write(Utf8JsonWriter json, string name, IReadOnlyDictionary<string, long> counts)
    {
        json.WriteStartObject(name);
        foreach (var (key, count) in counts)
            json.WriteNumber(key, count);
        json.WriteEndObject();
    }
}
