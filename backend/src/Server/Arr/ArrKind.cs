using System.Text.Json.Nodes;
using Sluice.Server.Settings;

namespace Sluice.Server.Arr;

internal enum ArrKind
{
    Sonarr,
    Radarr,
    Lidarr,
    Readarr,
    Whisparr,
}

/// <summary>Facts about each kind of program.</summary>
internal static class ArrKinds
{
    /// <summary>Returns the first of the program's usual categories that exists here; if none does, the most usual one.</summary>
    public static string UsualCategory(this ArrKind kind, IReadOnlyList<string> categories)
    {
        string[] usual = kind switch
        {
            ArrKind.Sonarr => ["tv", "series"],
            ArrKind.Radarr => ["movies", "films"],
            ArrKind.Lidarr => ["music", "audio"],
            ArrKind.Readarr => ["readarr", "books", "ebooks"],
            _ => ["whisparr", "xxx"],
        };
        return usual.FirstOrDefault(name => categories.Contains(name, StringComparer.Ordinal)) ?? usual[0];
    }
}

/// <summary>A program to connect. <c>Id</c> is empty until the program is saved. <c>Url</c> has no trailing slash. <c>Key</c> is secret.</summary>
internal sealed record ArrServer(string Id, ArrKind Kind, string Name, string Url, string Key, string Category)
{
    /// <summary>The program's id of the download client created by Sluice; null if there is none.</summary>
    public int? ClientId { get; init; }

    /// <summary>Whether Sluice may call the program automatically. Another program may have turned this off in the setting.</summary>
    public bool IsEnabled { get; init; } = true;

    /// <summary>The beginning of all API paths. Lidarr and Readarr use API version 1, the others version 3.</summary>
    public string ApiPath => Kind is ArrKind.Lidarr or ArrKind.Readarr ? "/api/v1/" : "/api/v3/";

    /// <summary>Returns kind and address without the key.</summary>
    public override string ToString() => $"{Kind} at {Url}";
}

/// <summary>Reads and edits <c>arr.instances</c>. Preserves content that it does not know. Pure.</summary>
internal static class ArrJson
{
    private static readonly SettingDefinition Address = new("", SettingType.Url);

    private static readonly JsonNodeOptions AnyCase = new() { PropertyNameCaseInsensitive = true };

    /// <summary>Reads all programs. Each skipped element adds a warning that omits its values.</summary>
    public static IReadOnlyList<ArrServer> Read(string json, out IReadOnlyList<string> warnings)
    {
        var complaints = new List<string>();
        warnings = complaints;
        var servers = new List<ArrServer>();
        if (Parse(json) is not { } root)
        {
            complaints.Add("arr.instances is no readable JSON object");
            return servers;
        }

        foreach (var kind in Enum.GetValues<ArrKind>())
        {
            if (root[ListOf(kind)] is not { } list)
                continue;
            if (list is not JsonArray elements)
            {
                complaints.Add($"{ListOf(kind)} must be a list");
                continue;
            }

            for (var i = 0; i < elements.Count; i++)
            {
                if (Read(kind, elements[i], out var fault) is { } server && servers.TrueForAll(other => other.Id != server.Id))
                    servers.Add(server);
                else
                    complaints.Add($"element {i} of {ListOf(kind)} is left out: {fault ?? "it stands there twice"}");
            }
        }

        return servers;
    }

    /// <summary>Returns the setting with a program added, or replaced if its id exists.</summary>
    public static string With(string json, ArrServer server)
    {
        var root = Parse(Without(json, server.Id)) ?? new JsonObject(AnyCase);
        var list = root[ListOf(server.Kind)] as JsonArray;
        if (list is null)
            root[ListOf(server.Kind)] = list = [];
        var element = new JsonObject
        {
            ["Id"] = server.Id,
            ["Name"] = server.Name,
            ["Host"] = server.Url,
            ["ApiKey"] = server.Key,
            ["Enabled"] = server.IsEnabled,
            ["Category"] = server.Category,
        };
        if (server.ClientId is { } clientId)
            element["ClientId"] = clientId;
        list.Add((JsonNode)element);
        return root.ToJsonString();
    }

    public static string Without(string json, string id)
    {
        var root = Parse(json) ?? new JsonObject(AnyCase);
        foreach (var kind in Enum.GetValues<ArrKind>())
        {
            if (root[ListOf(kind)] is not JsonArray elements)
                continue;
            foreach (var element in elements.Where(element => Read(kind, element, out _)?.Id == id).ToList())
                elements.Remove(element);
        }

        return root.ToJsonString();
    }

    /// <summary>Normalizes an address; null if it is invalid.</summary>
    public static string? ReadUrl(string text) => SettingReader.Read(Address, text, out _) is { Length: > 0 } url ? url : null;

    /// <summary>Returns a node's text; empty if it has none.</summary>
    public static string Text(JsonNode? node) => node is JsonValue value && value.TryGetValue<string>(out var text) ? text : "";

    private static string ListOf(ArrKind kind) => kind + "Instances";

    private static JsonObject? Parse(string json)
    {
        try
        {
            var root = JsonNode.Parse(json, AnyCase) as JsonObject;
            // Access the count now, because duplicate names throw only at the first access.
            _ = root?.Count;
            return root;
        }
        catch (Exception e) when (e is System.Text.Json.JsonException or ArgumentException)
        {
            return null;
        }
    }

    private static ArrServer? Read(ArrKind kind, JsonNode? node, out string? fault)
    {
        fault = null;
        try
        {
            if (node is not JsonObject element)
            {
                fault = "it is no object";
                return null;
            }

            var (id, name, key, category) = (Text(element["Id"]), Text(element["Name"]), Text(element["ApiKey"]), Text(element["Category"]));
            if (ReadUrl(Text(element["Host"])) is not { } url)
                fault = "Host must be an http or https URL";
            else if (key.Length is 0 or > 256 || !key.All(c => char.IsAscii(c) && !char.IsControl(c)))
                fault = "ApiKey must be 1 to 256 letters and digits";
            else if (new[] { id, name, category }.Any(text => text.Length > 256 || !SettingText.IsPlain(text)))
                fault = "Id, Name and Category must be single lines";
            else
                return new ArrServer(id.Length > 0 ? id : IdOf(kind, url), kind, name.Length > 0 ? name : kind.ToString(), url, key, category)
                {
                    ClientId = element["ClientId"] is JsonValue value && value.TryGetValue<int>(out var clientId) ? clientId : null,
                    IsEnabled = element["Enabled"] is not JsonValue enabled || !enabled.TryGetValue<bool>(out var isEnabled) || isEnabled,
                };
        }
        catch (Exception e) when (e is ArgumentException or InvalidOperationException)
        {
            // The value has a duplicate name or an unpaired surrogate.
            fault = "it is no object that can be read";
        }

        return null;
    }

    /// <summary>Returns a stable id for an element without an id.</summary>
    internal static string IdOf(ArrKind kind, string url) =>
        Convert.ToHexStringLower(System.Security.Cryptography.SHA256.HashData(System.Text.Encoding.UTF8.GetBytes($"{kind} {url}")).AsSpan(0, 8));
}
