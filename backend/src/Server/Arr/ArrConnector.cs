using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json.Nodes;
using Microsoft.Extensions.Options;
using Sluice.Server.Settings;

namespace Sluice.Server.Arr;

/// <summary>The address under which another program reaches this server. The host has no brackets. The URL base is empty or starts with a slash.</summary>
internal sealed record OwnAddress(string Host, int Port, bool UseSsl, string UrlBase)
{
    public override string ToString() => string.Create(
        CultureInfo.InvariantCulture, $"{(UseSsl ? "https" : "http")}://{(Host.Contains(':', StringComparison.Ordinal) ? $"[{Host}]" : Host)}:{Port}{UrlBase}");
}

/// <summary>An attempted address. <c>Cause</c> says why the program cannot use it; null if it can.</summary>
internal sealed record ArrTrial(OwnAddress Address, string? Cause);

/// <summary>How a connection affects a program's download clients.</summary>
internal enum ArrAction
{
    /// <summary>Adds a client and changes no other.</summary>
    Add,

    /// <summary>Changes nothing, because the client created by Sluice is already correct.</summary>
    Keep,

    /// <summary>Changes the client created by Sluice, or another client that points to this server.</summary>
    Change,

    /// <summary>Asks the user, because a client with this server's name points elsewhere and only the user knows where it comes from.</summary>
    Ask,
}

/// <summary>A planned connection. <c>Address</c> is the last address tried; it passed the program's test.</summary>
internal sealed record ArrPlan(ArrAction Action, OwnAddress Address, IReadOnlyList<ArrTrial> Trials)
{
    /// <summary>The name of the client to change; null if one is added.</summary>
    public string? Client { get; init; }

    public IReadOnlyList<ArrChange> Changes { get; init; } = [];

    /// <summary>Identifies exactly these changes to this client; null if nothing changes.</summary>
    public string? Token { get; init; }
}

/// <summary>The result of a connection. <c>Server</c> is null if the plan still needs consent.</summary>
internal sealed record ArrConnection(ArrPlan Plan, ArrServer? Server);

/// <summary>
/// Makes this server a download client of a program. Other clients stay unchanged unless they point to this server. Changing a client requires consent, given
/// by a plan's token. Thread-safe. Connections run one at a time.
/// </summary>
internal sealed class ArrConnector(ArrClient client, ArrStore store, IOptionsMonitor<ApiOptions> api) : IDisposable
{
    /// <summary>Passed instead of a token to add another client and leave the existing one unchanged.</summary>
    public const string AddAnother = "add";

    private const string ClientName = "Sluice";

    private readonly SemaphoreSlim _turn = new(1);

    /// <summary>Tries addresses with the program's own test, most likely first, and returns a plan. Changes nothing.</summary>
    /// <exception cref="ArrException">The program cannot be reached, or no address passes.</exception>
    public async Task<ArrPlan> PlanAsync(ArrServer server, IReadOnlyList<OwnAddress> addresses, CancellationToken cancellationToken)
    {
        await _turn.WaitAsync(cancellationToken);
        try
        {
            return (await PrepareAsync(server, addresses, addsAnother: false, cancellationToken)).Plan;
        }
        finally
        {
            _turn.Release();
        }
    }

    /// <summary>
    /// Plans again and connects. If the plan changes a client, <paramref name="agreed"/> must be its token. It may also be <see cref="AddAnother"/> or null.
    /// </summary>
    /// <exception cref="ArrException">The program cannot be reached, or no address passes.</exception>
    public async Task<ArrConnection> ConnectAsync(ArrServer server, IReadOnlyList<OwnAddress> addresses, string? agreed, CancellationToken cancellationToken)
    {
        if (api.CurrentValue.KeyIsLocked)
            throw new ArrException($"The API key that {server.Kind} needs is locked until {SecretBox.KeyFileName} is back.");
        await _turn.WaitAsync(cancellationToken);
        try
        {
            var status = await client.StatusAsync(server, cancellationToken);
            var (plan, entry) = await PrepareAsync(server, addresses, agreed == AddAnother, cancellationToken);
            if (plan.Action is ArrAction.Change or ArrAction.Ask && plan.Token != agreed)
                return new ArrConnection(plan, null);

            var id = entry.Id;
            // Force the save, because otherwise even the warnings of a passed test would prevent it.
            if (plan.Action == ArrAction.Add)
                id = new DownloadClientEntry(await client.SaveAsync(server, HttpMethod.Post, "downloadclient?forceSave=true", entry.Copy(), cancellationToken) as JsonObject ?? []).Id;
            else if (plan.Action != ArrAction.Keep)
                await client.SaveAsync(server, HttpMethod.Put, string.Create(CultureInfo.InvariantCulture, $"downloadclient/{id}?forceSave=true"), entry.Copy(), cancellationToken);
            var saved = await store.SaveAsync(server with { Name = status.InstanceName, ClientId = id }, cancellationToken);
            store.Note(saved.Id, null);
            return new ArrConnection(plan, saved);
        }
        finally
        {
            _turn.Release();
        }
    }

    /// <summary>Returns the host under which the program reaches this server; null if this server is not one of its download clients.</summary>
    public async Task<string?> FindHostAsync(ArrServer server, CancellationToken cancellationToken)
    {
        var entries = await ListAsync(server, cancellationToken);
        return (entries.Find(entry => entry.Id == OwnClientId(server)) ?? entries.Find(entry => entry.Name == ClientName))?.Host;
    }

    public void Dispose() => _turn.Dispose();

    private static string NonePassed(ArrServer server, List<ArrTrial> trials) =>
        $"{server.Kind} cannot reach this server. {string.Join(" ", trials.Select(trial => $"At {trial.Address}: {trial.Cause!.TrimEnd('.')}."))}";

    private async Task<(ArrPlan Plan, DownloadClientEntry Entry)> PrepareAsync(
        ArrServer server, IReadOnlyList<OwnAddress> addresses, bool addsAnother, CancellationToken cancellationToken)
    {
        var entries = await ListAsync(server, cancellationToken);
        var own = entries.Find(entry => entry.Id == OwnClientId(server)) ?? entries.Find(entry => addresses.Any(entry.IsAt));
        var existing = own ?? (addsAnother ? null : entries.Find(entry => entry.Name.Equals(ClientName, StringComparison.OrdinalIgnoreCase)));
        var entry = existing is null ? await MakeAsync(server, entries, cancellationToken) : new DownloadClientEntry(existing.Copy());
        var trials = new List<ArrTrial>();
        foreach (var address in addresses.Distinct())
        {
            entry.Fill(address, api.CurrentValue.Key, server.Category);
            trials.Add(new ArrTrial(address, await client.TestClientAsync(server, entry.Copy(), cancellationToken)));
            if (trials[^1].Cause is null)
                break;
        }

        if (trials is not [.., { Cause: null } passed])
            throw new ArrException(NonePassed(server, trials));
        if (existing is null)
            return (new ArrPlan(ArrAction.Add, passed.Address, trials), entry);

        var changes = entry.ChangesFrom(existing);
        // The program hides the key, so only a test of the unchanged client shows whether it has our key.
        if (changes.Count == 0 && await client.TestClientAsync(server, existing.Copy(), cancellationToken) is not null)
            changes = [new ArrChange("apiKey", "", "")];
        var action = changes.Count == 0 ? ArrAction.Keep : own is null ? ArrAction.Ask : ArrAction.Change;
        var plan = new ArrPlan(action, passed.Address, trials) { Client = existing.Name, Changes = changes };
        return (action == ArrAction.Keep ? plan : plan with { Token = TokenOf(existing, entry) }, entry);
    }

    /// <summary>Returns the id of the client created by Sluice. If the API key has changed, the program was reinstalled, so its old ids are invalid.</summary>
    private int? OwnClientId(ArrServer server) => store.Find(server) is { ClientId: { } id } saved && saved.Key == server.Key ? id : null;

    private static string TokenOf(DownloadClientEntry before, DownloadClientEntry after) =>
        Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(before.Copy().ToJsonString() + after.Copy().ToJsonString())).AsSpan(0, 8));

    private async Task<List<DownloadClientEntry>> ListAsync(ArrServer server, CancellationToken cancellationToken)
    {
        var clients = await client.GetAsync(server, "downloadclient", cancellationToken) as JsonArray
            ?? throw new ArrException($"{server.Kind} does not list its download clients.");
        return [.. clients.OfType<JsonObject>().Select(json => new DownloadClientEntry(json)).Where(entry => entry.IsSabnzbd)];
    }

    private async Task<DownloadClientEntry> MakeAsync(ArrServer server, List<DownloadClientEntry> others, CancellationToken cancellationToken)
    {
        var schema = await client.GetAsync(server, "downloadclient/schema", cancellationToken) as JsonArray ?? [];
        if (schema.OfType<JsonObject>().Select(json => new DownloadClientEntry(json)).FirstOrDefault(entry => entry.IsSabnzbd) is not { } template)
            throw new ArrException($"This {server.Kind} has no SABnzbd among its download clients.");
        var name = ClientName;
        // Append a number, because client names must be unique in a program.
        for (var number = 2; others.Exists(entry => entry.Name.Equals(name, StringComparison.OrdinalIgnoreCase)); number++)
            name = string.Create(CultureInfo.InvariantCulture, $"{ClientName} {number}");
        return DownloadClientEntry.FromTemplate(template, name);
    }
}
