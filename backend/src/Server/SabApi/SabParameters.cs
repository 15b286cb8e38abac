using System.Globalization;
using Microsoft.Extensions.Primitives;

namespace Sluice.Server.SabApi;

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
