using System.Text.Json.Nodes;
using Sluice.Server.Settings;

namespace Sluice.Server.Arr;

/// <summary>The programs that can be connected.</summary>
internal enum ArrKind
{
    /// <summary>Series.</summary>
    Sonarr,

    /// <summary>Films.</summary>
    Radarr,

    /// <summary>Music.</summary>
    Lidarr,

    /// <summary>Books.</summary>
    Readarr,

    /// <summary>Films and series of another kind.</summary>
    Whisparr,
}

/// <summary>A program that Sluice is connected to, or is to be connected to.</summary>
/// <param name="Id">By which the API names it; empty before it is saved.</param>
/// <param name="Kind">Which one.</param>
/// <param name="Name">As it calls itself.</param>
/// <param name="Url">Where it is, without a slash at its end.</param>
/// <param name="Key">Its API key. Secret.</param>
/// <param name="Category">The category that it adds with.</param>
internal sealed record ArrServer(string Id, ArrKind Kind, string Name, string Url, string Key, string Category)
{
    /// <summary>The id under which it keeps the download client that Sluice made; null if Sluice made none.</summary>
    public int? ClientId { get; init; }

    /// <summary>What its paths begin with: Lidarr and Readarr have the first version of theirs, the others the third.</summary>
    public string ApiPath => Kind is ArrKind.Lidarr or ArrKind.Readarr ? "/api/v1/" : "/api/v3/";

    /// <summary>Kind and address only.</summary>
    public override string ToString() => $"{Kind} at {Url}";
}

/// <summary>Reads and changes <c>arr.instances</c>. What is not understood in it is kept. Pure.</summary>
internal static class ArrJson
{
    private static readonly SettingDefinition Address = new("", SettingType.Url);

    private static readonly JsonNodeOptions AnyCase = new() { PropertyNameCaseInsensitive = true };

    /// <summary>All programs of a value of the setting.</summary>
    /// <param name="json">The value.</param>
    /// <param name="warnings">One sentence per element that is left out, without its values.</param>
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

    /// <summary>The value with a program in it, in place of the one with its id.</summary>
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
            ["Enabled"] = true,
            ["Category"] = server.Category,
        };
        if (server.ClientId is { } clientId)
            element["ClientId"] = clientId;
        list.Add((JsonNode)element);
        return root.ToJsonString();
    }

    /// <summary>The value without a program.</summary>
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

    /// <summary>An address in its one form; null when it is none.</summary>
    public static string? ReadUrl(string text) => SettingReader.Read(Address, text, out _) is { Length: > 0 } url ? url : null;

    /// <summary>The text under a name; empty when there is none.</summary>
    public static string Text(JsonNode? node) => node is JsonValue value && value.TryGetValue<string>(out var text) ? text : "";

    private static string ListOf(ArrKind kind) => kind + "Instances";

    private static JsonObject? Parse(string json)
    {
        try
        {
            var root = JsonNode.Parse(json, AnyCase) as JsonObject;
            // A name that stands twice shows only when something is looked up.
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
                };
        }
        catch (Exception e) when (e is ArgumentException or InvalidOperationException)
        {
            // A name twice, or half a character.
            fault = "it is no object that can be read";
        }

        return null;
    }

    /// <summary>The same id at every start for one that was written without.</summary>
    internal static string IdOf(ArrKind kind, string url) =>
        Convert.ToHexStringLower(System.Security.Cryptography.SHA256.HashData(System.Text.Encoding.UTF8.GetBytes($"{kind} {url}")).AsSpan(0, 8));
}
