using System.Globalization;
using System.Text.Json.Nodes;

namespace Sluice.Server.Arr;

/// <summary>A download client's field that a connection changes. Both values are empty if the field is secret.</summary>
internal sealed record ArrChange(string Name, string From, string To);

/// <summary>A download client, as described by a program. Fields unknown to Sluice stay unchanged.</summary>
internal sealed class DownloadClientEntry(JsonObject json)
{
    private const string Implementation = "Sabnzbd";

    // Since version 4, programs show this instead of a secret. If they receive it, they keep the stored secret.
    private const string Hidden = "********";

    public bool IsSabnzbd => ArrJson.Text(json["implementation"]) == Implementation;

    /// <summary>The program's id of the client; null if the client is not saved.</summary>
    public int? Id => json["id"] is JsonValue value && value.TryGetValue<int>(out var id) ? id : null;

    public string Name => ArrJson.Text(json["name"]);

    public string Host => Value("host");

    /// <summary>Creates a client from the description of its type.</summary>
    public static DownloadClientEntry FromTemplate(DownloadClientEntry template, string name)
    {
        var made = template.Copy();
        made.Remove("id");
        made.Remove("presets");
        made["name"] = name;
        made["enable"] = true;
        made["removeCompletedDownloads"] = true;
        made["removeFailedDownloads"] = true;
        return new DownloadClientEntry(made);
    }

    public JsonObject Copy() => (JsonObject)json.DeepClone();

    /// <summary>Whether the client points to exactly this address: host, port, TLS and URL base.</summary>
    public bool IsAt(OwnAddress address) =>
        Value("host").Equals(address.Host, StringComparison.OrdinalIgnoreCase)
        && Value("port") == address.Port.ToString(CultureInfo.InvariantCulture)
        && Value("useSsl") == (address.UseSsl ? "true" : "false")
        && Value("urlBase").Trim('/') == address.UrlBase.Trim('/');

    /// <summary>Points the client to this server.</summary>
    public void Fill(OwnAddress address, string apiKey, string category)
    {
        Set("host", address.Host);
        Set("port", address.Port);
        Set("useSsl", address.UseSsl);
        if (Value("urlBase").Trim('/') != address.UrlBase.Trim('/'))
            Set("urlBase", address.UrlBase);
        Set("apiKey", apiKey);
        Set("username", "");
        Set("password", "");
        if (CategoryField is { } field)
            Set(field, category);
    }

    /// <summary>Lists the differences from an earlier copy. A hidden secret counts as equal, because it cannot be compared.</summary>
    public IReadOnlyList<ArrChange> ChangesFrom(DownloadClientEntry before)
    {
        var changes = new List<ArrChange>();
        foreach (var name in new[] { "host", "port", "useSsl", "urlBase", "username", CategoryField })
        {
            if (name is not null && before.Value(name) is var old && Value(name) is var now && old != now)
                changes.Add(new ArrChange(name, old, now));
        }

        foreach (var secret in new[] { "apiKey", "password" })
        {
            if (before.Value(secret) is var old && old != Hidden && old != Value(secret))
                changes.Add(new ArrChange(secret, "", ""));
        }

        return changes;
    }

    // Programs name this field tvCategory, movieCategory and so on, so match only the end.
    private string? CategoryField =>
        Fields.Select(entry => ArrJson.Text(entry["name"])).FirstOrDefault(name => name.EndsWith("Category", StringComparison.OrdinalIgnoreCase));

    private IEnumerable<JsonObject> Fields => (json["fields"] as JsonArray ?? []).OfType<JsonObject>();

    private JsonObject? Field(string name) => Fields.FirstOrDefault(field => ArrJson.Text(field["name"]) == name);

    /// <summary>Returns a field's value as text. A missing switch counts as off, any other missing field as empty.</summary>
    private string Value(string name) => Field(name)?["value"] switch
    {
        JsonValue value when value.TryGetValue<string>(out var text) => text,
        JsonValue value => value.ToJsonString(),
        _ => name == "useSsl" ? "false" : "",
    };

    private void Set(string name, JsonNode value)
    {
        if (Field(name) is { } field)
            field["value"] = value;
    }
}
