using System.Globalization;
using System.Text.Json.Nodes;
using Microsoft.Extensions.Options;
using Sluice.Server.Settings;

namespace Sluice.Server.Arr;

/// <summary>An address at which another program may find this server.</summary>
/// <param name="Host">Name or address, without brackets.</param>
/// <param name="Port">The port.</param>
/// <param name="UseSsl">Whether it is reached by HTTPS.</param>
/// <param name="UrlBase">The path below which it is; empty or beginning with a slash.</param>
internal sealed record OwnAddress(string Host, int Port, bool UseSsl, string UrlBase)
{
    /// <summary>As a URL.</summary>
    public override string ToString() => string.Create(
        CultureInfo.InvariantCulture, $"{(UseSsl ? "https" : "http")}://{(Host.Contains(':', StringComparison.Ordinal) ? $"[{Host}]" : Host)}:{Port}{UrlBase}");
}

/// <summary>What came of an address.</summary>
/// <param name="Address">The address.</param>
/// <param name="Cause">Why the program cannot use it; null when it can.</param>
internal sealed record ArrTrial(OwnAddress Address, string? Cause);

/// <summary>What came of a connection.</summary>
/// <param name="Server">The program as it is saved.</param>
/// <param name="Address">The address that it uses.</param>
/// <param name="Created">Whether it has a download client more; false when one was brought up to date.</param>
/// <param name="Trials">The addresses that it tried, in their order.</param>
internal sealed record ArrConnection(ArrServer Server, OwnAddress Address, bool Created, IReadOnlyList<ArrTrial> Trials);

/// <summary>Makes this server a download client of a program: of one kind, SABnzbd, and of one name, so that it never stands there twice.</summary>
/// <remarks>Thread-safe; connections follow one another.</remarks>
internal sealed class ArrConnector(ArrClient client, ArrStore store, IOptionsMonitor<ApiOptions> api) : IDisposable
{
    private const string ClientName = "Sluice";
    private const string Implementation = "Sabnzbd";

    private readonly SemaphoreSlim _turn = new(1);

    /// <summary>Tries addresses with the program's own test and saves the first that passes, here and there.</summary>
    /// <param name="server">The program.</param>
    /// <param name="addresses">Where this server may be, the likeliest first.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="ArrException">The program cannot be called, or no address passes.</exception>
    public async Task<ArrConnection> ConnectAsync(ArrServer server, IReadOnlyList<OwnAddress> addresses, CancellationToken cancellationToken)
    {
        if (api.CurrentValue.KeyIsLocked)
            throw new ArrException($"The API key that {server.Kind} needs is locked until {SecretBox.KeyFile} is back.");
        await _turn.WaitAsync(cancellationToken);
        try
        {
            var status = await client.StatusAsync(server, cancellationToken);
            var existing = await FindAsync(server, addresses, cancellationToken);
            var entry = existing ?? await TemplateAsync(server, cancellationToken);
            var trials = new List<ArrTrial>();
            foreach (var address in addresses.Distinct())
            {
                Fill(entry, server, address);
                trials.Add(new ArrTrial(address, await client.TestClientAsync(server, entry.DeepClone(), cancellationToken)));
                if (trials[^1].Cause is null)
                    break;
            }

            if (trials is not [.., { Cause: null } passed])
                throw new ArrException(NonePassed(server, trials));
            // The test has passed; warnings of it must not keep the client from being saved.
            if (existing is null)
                await client.SaveAsync(server, HttpMethod.Post, "downloadclient?forceSave=true", entry, cancellationToken);
            else
                await client.SaveAsync(server, HttpMethod.Put, $"downloadclient/{Id(entry)}?forceSave=true", entry, cancellationToken);
            var saved = await store.SaveAsync(server with { Name = status.InstanceName }, cancellationToken);
            store.Note(saved.Id, null);
            return new ArrConnection(saved, passed.Address, existing is null, trials);
        }
        finally
        {
            _turn.Release();
        }
    }

    /// <summary>The host under which a program has this server as its download client; null when it does not have it.</summary>
    public async Task<string?> HostInAsync(ArrServer server, CancellationToken cancellationToken) =>
        await FindAsync(server, [], cancellationToken) is { } entry ? ArrJson.Text(Field(entry, "host")?["value"]) : null;

    /// <inheritdoc/>
    public void Dispose() => _turn.Dispose();

    private static string NonePassed(ArrServer server, List<ArrTrial> trials) =>
        $"{server.Kind} cannot reach this server. {string.Join(" ", trials.Select(trial => $"At {trial.Address}: {trial.Cause!.TrimEnd('.')}."))}";

    private static string Id(JsonObject entry) => entry["id"]?.ToJsonString() ?? "";

    /// <summary>The client that an earlier connection or a person has made.</summary>
    private async Task<JsonObject?> FindAsync(ArrServer server, IReadOnlyList<OwnAddress> addresses, CancellationToken cancellationToken)
    {
        var clients = await client.GetAsync(server, "downloadclient", cancellationToken) as JsonArray
            ?? throw new ArrException($"{server.Kind} does not list its download clients.");
        var candidates = clients.OfType<JsonObject>().Where(entry => ArrJson.Text(entry["implementation"]) == Implementation).ToList();
        return candidates.Find(entry => ArrJson.Text(entry["name"]) == ClientName)
            ?? candidates.Find(entry => addresses.Any(address => IsAt(entry, address)));
    }

    private static bool IsAt(JsonObject entry, OwnAddress address) =>
        ArrJson.Text(Field(entry, "host")?["value"]).Equals(address.Host, StringComparison.OrdinalIgnoreCase)
        && Field(entry, "port")?["value"]?.ToJsonString().Trim('"') == address.Port.ToString(CultureInfo.InvariantCulture);

    private async Task<JsonObject> TemplateAsync(ArrServer server, CancellationToken cancellationToken)
    {
        var schema = await client.GetAsync(server, "downloadclient/schema", cancellationToken) as JsonArray ?? [];
        if (schema.OfType<JsonObject>().FirstOrDefault(entry => ArrJson.Text(entry["implementation"]) == Implementation) is not { } template)
            throw new ArrException($"This {server.Kind} has no SABnzbd among its download clients.");
        var made = (JsonObject)template.DeepClone();
        made.Remove("id");
        made.Remove("presets");
        made["name"] = ClientName;
        made["enable"] = true;
        made["removeCompletedDownloads"] = true;
        made["removeFailedDownloads"] = true;
        return made;
    }

    private void Fill(JsonObject entry, ArrServer server, OwnAddress address)
    {
        Set(entry, "host", address.Host);
        Set(entry, "port", address.Port);
        Set(entry, "useSsl", address.UseSsl);
        Set(entry, "urlBase", address.UrlBase);
        Set(entry, "apiKey", api.CurrentValue.Key);
        Set(entry, "username", "");
        Set(entry, "password", "");
        // Each program calls it by what it manages: tvCategory, movieCategory and so on.
        var category = Fields(entry).Select(field => ArrJson.Text(field["name"]))
            .FirstOrDefault(name => name.EndsWith("Category", StringComparison.OrdinalIgnoreCase));
        if (category is not null)
            Set(entry, category, server.Category);
    }

    private static IEnumerable<JsonObject> Fields(JsonObject entry) => (entry["fields"] as JsonArray ?? []).OfType<JsonObject>();

    private static JsonObject? Field(JsonObject entry, string name) => Fields(entry).FirstOrDefault(field => ArrJson.Text(field["name"]) == name);

    private static void Set(JsonObject entry, string name, JsonNode value)
    {
        if (Field(entry, name) is { } field)
            field["value"] = value;
    }
}
