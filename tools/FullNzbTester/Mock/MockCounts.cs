using System.Globalization;
using System.Text.Json;

namespace Sluice.Tools.FullNzbTester.Mock;

/// <summary>Counters of the mock, in total and per provider.</summary>
/// <param name="Json">The unchanged response of the mock.</param>
internal sealed record MockCounts(ProviderCounts Total, IReadOnlyList<ProviderCounts> Providers, string Json)
{
    /// <exception cref="JsonException">The response is invalid.</exception>
    public static MockCounts Parse(string json)
    {
        using var document = JsonDocument.Parse(json);
        var root = document.RootElement;
        return new MockCounts(ProviderCounts.Read(root), [.. root.GetProperty("providers").EnumerateArray().Select(ProviderCounts.Read)], json);
    }
}

/// <summary>Counters of one provider.</summary>
/// <param name="Opened">Accepted connections, including refused ones.</param>
/// <param name="Peak">Maximum number of connections open at once.</param>
/// <param name="Refused">Connections above the limit.</param>
/// <param name="DeepestPipeline">Maximum number of commands pending on one connection.</param>
/// <param name="Waiting">Commands pending now.</param>
internal sealed record ProviderCounts(long Commands, long Bodies, long Opened, long Peak, long Refused, long Bytes, long DeepestPipeline, long Waiting)
{
    public long Open { get; private init; }

    /// <summary>Whether the system has connections that the mock has not yet accepted, so that they are not counted.</summary>
    public bool HasUnaccepted { get; private init; }

    /// <summary>BODY commands for generated articles, by 0-based number of the file in its release.</summary>
    public IReadOnlyDictionary<int, long> BodiesByFile { get; private init; } = new Dictionary<int, long>();

    internal static ProviderCounts Read(JsonElement element)
    {
        var connections = element.GetProperty("connections");
        var commands = element.GetProperty("commands");
        return new ProviderCounts(
            commands.EnumerateObject().Sum(verb => verb.Value.GetInt64()),
            commands.TryGetProperty("BODY", out var bodies) ? bodies.GetInt64() : 0,
            connections.GetProperty("opened").GetInt64(),
            connections.GetProperty("peak").GetInt64(),
            connections.GetProperty("refused").GetInt64(),
            element.GetProperty("bytes").GetInt64(),
            element.GetProperty("deepest_pipeline").GetInt64(),
            element.GetProperty("waiting").GetInt64())
        {
            Open = connections.GetProperty("now").GetInt64(),
            HasUnaccepted = connections.GetProperty("unaccepted").GetBoolean(),
            BodiesByFile = element.GetProperty("bodies_by_file").EnumerateObject().ToDictionary(file => int.Parse(file.Name, CultureInfo.InvariantCulture), file => file.Value.GetInt64()),
        };
    }
}
