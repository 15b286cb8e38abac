using System.Globalization;
using Microsoft.Extensions.Primitives;
using Sluice.Server.Auth;
using Sluice.Server.Queue.Intake;

namespace Sluice.Server.SabApi;

/// <summary>One API call.</summary>
/// <param name="Parameters">Parameters from query and body.</param>
internal sealed record SabCall(HttpContext Http, SabParameters Parameters)
{
    private static readonly string[] FamilyAgents = ["Sonarr/", "Radarr/", "Lidarr/", "Readarr/", "Whisparr/", "Prowlarr/"];

    /// <summary>The verdict on the key if it was needed to read the body. Any verdict other than accepted stopped the read.</summary>
    public ApiKeyVerdict? Key { get; init; }

    public NzbUpload? Upload { get; init; }

    public string UploadName { get; init; } = "";

    /// <summary>Whether the client is an *arr, because some responses differ for *arr clients (SAB-11, SAB-40).</summary>
    public bool IsFamily => IsFamilyAgent(Http);

    /// <summary>Whether the client asked for XML (SAB-4).</summary>
    public bool IsXml => Parameters.Text("output") == "xml";

    public CancellationToken Cancelled => Http.RequestAborted;

    public static bool IsFamilyAgent(HttpContext http)
    {
        var agent = http.Request.Headers.UserAgent.ToString();
        return FamilyAgents.Any(name => agent.StartsWith(name, StringComparison.Ordinal));
    }
}

/// <summary>Parameters from query and body. The query takes precedence. If a parameter is repeated, its first value counts (SAB-2).</summary>
internal sealed class SabParameters(IQueryCollection query)
{
    private readonly Dictionary<string, StringValues> _values =
        query.ToDictionary(pair => pair.Key, pair => pair.Value, StringComparer.Ordinal);

    private readonly HashSet<string> _fromQuery = [.. query.Keys];

    public void Add(string name, StringValues value)
    {
        if (!_fromQuery.Contains(name))
            _values[name] = StringValues.Concat(_values.GetValueOrDefault(name), value);
    }

    /// <summary>Returns a value; empty if absent.</summary>
    public string Text(string name) => _values.TryGetValue(name, out var values) && values.Count > 0 ? values[0] ?? "" : "";

    /// <summary>Returns the first nonempty value of two parameters; empty if both are empty.</summary>
    public string Text(string name, string alias) => Text(name) is { Length: > 0 } text ? text : Text(alias);

    /// <summary>Returns a nonnegative number; 0 if absent or invalid.</summary>
    public int Number(string name) =>
        int.TryParse(Text(name), NumberStyles.None, CultureInfo.InvariantCulture, out var number) ? number : 0;

    /// <summary>Returns a comma-separated or repeated list; null if absent or empty.</summary>
    public IReadOnlyList<string>? List(string name)
    {
        var values = _values.GetValueOrDefault(name).SelectMany(value => (value ?? "").Split(','))
            .Select(value => value.Trim()).Where(value => value.Length > 0).ToList();
        return values.Count == 0 ? null : values;
    }

    public IReadOnlyList<string>? List(string name, string alias) => List(name) ?? List(alias);
}
