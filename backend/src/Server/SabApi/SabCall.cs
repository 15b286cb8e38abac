using System.Globalization;
using Microsoft.Extensions.Primitives;
using Sluice.Server.Auth;
using Sluice.Server.Queue.Intake;

namespace Sluice.Server.SabApi;

/// <summary>One call of the API.</summary>
/// <param name="Http">The request.</param>
/// <param name="Parameters">From query and body.</param>
internal sealed record SabCall(HttpContext Http, SabParameters Parameters)
{
    private static readonly string[] FamilyAgents = ["Sonarr/", "Radarr/", "Lidarr/", "Readarr/", "Whisparr/", "Prowlarr/"];

    /// <summary>Verdict on its key, where the body could not be read without one; any verdict but "accepted" has ended the reading.</summary>
    public ApiKeyVerdict? Key { get; init; }

    /// <summary>The file of a multipart body, already received, or null.</summary>
    public NzbUpload? Upload { get; init; }

    /// <summary>Its name as the client gave it.</summary>
    public string UploadName { get; init; } = "";

    /// <summary>Whether the client is one of the *arr family, which is answered differently at some places (SAB-11, SAB-40).</summary>
    public bool IsFamily => IsFamilyAgent(Http);

    /// <summary>Whether the answer is to be XML (SAB-4).</summary>
    public bool IsXml => Parameters.Text("output") == "xml";

    /// <summary>Ends with the client.</summary>
    public CancellationToken Cancelled => Http.RequestAborted;

    /// <summary>Whether a request comes from one of the *arr family.</summary>
    public static bool IsFamilyAgent(HttpContext http)
    {
        var agent = http.Request.Headers.UserAgent.ToString();
        return FamilyAgents.Any(name => agent.StartsWith(name, StringComparison.Ordinal));
    }
}

/// <summary>The parameters of a call, from the query and the body. The query wins; of a repeated scalar the first value counts (SAB-2).</summary>
internal sealed class SabParameters(IQueryCollection query)
{
    private readonly Dictionary<string, StringValues> _values =
        query.ToDictionary(pair => pair.Key, pair => pair.Value, StringComparer.Ordinal);

    private readonly HashSet<string> _fromQuery = [.. query.Keys];

    /// <summary>Adds a field of the body.</summary>
    public void Add(string name, StringValues value)
    {
        if (!_fromQuery.Contains(name))
            _values[name] = StringValues.Concat(_values.GetValueOrDefault(name), value);
    }

    /// <summary>The value of a parameter; empty when it is absent.</summary>
    public string Text(string name) => _values.TryGetValue(name, out var values) && values.Count > 0 ? values[0] ?? "" : "";

    /// <summary>The value of the first of several parameters that is not empty, or empty.</summary>
    public string Text(string name, string alias) => Text(name) is { Length: > 0 } text ? text : Text(alias);

    /// <summary>A number that is not negative; 0 when it is absent or no number.</summary>
    public int Number(string name) =>
        int.TryParse(Text(name), NumberStyles.None, CultureInfo.InvariantCulture, out var number) ? number : 0;

    /// <summary>A list, comma-separated or repeated; null when the parameter is absent or empty.</summary>
    public IReadOnlyList<string>? List(string name)
    {
        var values = _values.GetValueOrDefault(name).SelectMany(value => (value ?? "").Split(','))
            .Select(value => value.Trim()).Where(value => value.Length > 0).ToList();
        return values.Count == 0 ? null : values;
    }

    /// <summary>A list under either of two names.</summary>
    public IReadOnlyList<string>? List(string name, string alias) => List(name) ?? List(alias);
}
