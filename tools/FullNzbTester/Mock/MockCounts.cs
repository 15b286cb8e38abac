using System.Globalization;
using System.Text.Json;

namespace Sluice.Tools.FullNzbTester.Mock;

/// <summary>What the mock has counted, of all providers together and of each.</summary>
/// <param name="Total">All providers.</param>
/// <param name="Providers">Each provider.</param>
/// <param name="Json">The whole answer as the mock gave it.</param>
internal sealed record MockCounts(ProviderCounts Total, IReadOnlyList<ProviderCounts> Providers, string Json)
{
    /// <summary>Reads the answer of the control port.</summary>
    /// <exception cref="JsonException">It is not what the mock writes.</exception>
    public static MockCounts Parse(string json)
    {
        using var document = JsonDocument.Parse(json);
        var root = document.RootElement;
        return new MockCounts(ProviderCounts.Read(root), [.. root.GetProperty("providers").EnumerateArray().Select(ProviderCounts.Read)], json);
    }
}

/// <summary>Counters of one provider.</summary>
/// <param name="Commands">Commands received, of all verbs.</param>
/// <param name="Bodies">BODY commands among them.</param>
/// <param name="Opened">Connections accepted, refused ones included.</param>
/// <param name="Peak">Most of them at a time.</param>
/// <param name="Refused">Connections over the cap.</param>
/// <param name="Bytes">Bytes sent.</param>
/// <param name="DeepestPipeline">Most commands that waited on one connection.</param>
/// <param name="Waiting">Commands that wait for their answers now.</param>
internal sealed record ProviderCounts(long Commands, long Bodies, long Opened, long Peak, long Refused, long Bytes, long DeepestPipeline, long Waiting)
{
    /// <summary>Connections that are open now.</summary>
    public long Open { get; private init; }

    /// <summary>Whether the mock's system has connections that the mock has not taken up yet, so that they are not counted.</summary>
    public bool HasUnaccepted { get; private init; }

    /// <summary>BODY commands by the number of the file in its release, from 0, for articles that the mock makes.</summary>
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
