using System.Globalization;
using System.Security.Cryptography;
using System.Text;
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

/// <summary>What a connection does to the download clients of a program.</summary>
internal enum ArrAction
{
    /// <summary>Adds one, and changes none.</summary>
    Add,

    /// <summary>Nothing: the client that Sluice made is as it should be.</summary>
    Keep,

    /// <summary>Changes the client that Sluice made, or one that leads to this server.</summary>
    Change,

    /// <summary>A client is named like this server and leads elsewhere. Only a person knows whose it is.</summary>
    Ask,
}

/// <summary>What a connection is going to do, before it does it.</summary>
/// <param name="Action">To the download clients of the program.</param>
/// <param name="Address">The address that passed the program's test.</param>
/// <param name="Trials">The addresses that it tried, in their order.</param>
internal sealed record ArrPlan(ArrAction Action, OwnAddress Address, IReadOnlyList<ArrTrial> Trials)
{
    /// <summary>Name of the client that is kept, would change or is asked about; null if one is added.</summary>
    public string? Client { get; init; }

    /// <summary>What would change of that client.</summary>
    public IReadOnlyList<ArrChange> Changes { get; init; } = [];

    /// <summary>Stands for exactly these changes of exactly this client; null if nothing changes.</summary>
    public string? Token { get; init; }
}

/// <summary>What came of a connection.</summary>
/// <param name="Plan">What was done, or has to be agreed to.</param>
/// <param name="Server">The program as it is saved; null if nothing was done.</param>
internal sealed record ArrConnection(ArrPlan Plan, ArrServer? Server);

/// <summary>
/// Makes this server a download client of a program, once. It changes no client that it did not make, unless that one leads to this very
/// server, and nothing at all that was not agreed to by the token of a plan.
/// </summary>
/// <remarks>Thread-safe; connections follow one another.</remarks>
internal sealed class ArrConnector(ArrClient client, ArrStore store, IOptionsMonitor<ApiOptions> api) : IDisposable
{
    /// <summary>In place of a token: leave the client that is asked about alone, and add another one.</summary>
    public const string AddAnother = "add";

    private const string ClientName = "Sluice";

    private readonly SemaphoreSlim _turn = new(1);

    /// <summary>Tries addresses with the program's own test and says what a connection would do. Changes nothing.</summary>
    /// <param name="server">The program.</param>
    /// <param name="addresses">Where this server may be, the likeliest first.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="ArrException">The program cannot be called, or no address passes.</exception>
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

    /// <summary>Plans anew and does it, here and there, if it changes nothing of the program's or was agreed to.</summary>
    /// <param name="server">The program.</param>
    /// <param name="addresses">Where this server may be, the likeliest first.</param>
    /// <param name="agreed">The token of a plan, <see cref="AddAnother"/>, or null.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="ArrException">The program cannot be called, or no address passes.</exception>
    public async Task<ArrConnection> ConnectAsync(ArrServer server, IReadOnlyList<OwnAddress> addresses, string? agreed, CancellationToken cancellationToken)
    {
        if (api.CurrentValue.KeyIsLocked)
            throw new ArrException($"The API key that {server.Kind} needs is locked until {SecretBox.KeyFile} is back.");
        await _turn.WaitAsync(cancellationToken);
        try
        {
            var status = await client.StatusAsync(server, cancellationToken);
            var (plan, entry) = await PrepareAsync(server, addresses, agreed == AddAnother, cancellationToken);
            if (plan.Action is ArrAction.Change or ArrAction.Ask && plan.Token != agreed)
                return new ArrConnection(plan, null);

            var id = entry.Id;
            // The test has passed; warnings of it must not keep the client from being saved.
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

    /// <summary>The host under which a program has this server as its download client; null when it does not have it.</summary>
    public async Task<string?> HostInAsync(ArrServer server, CancellationToken cancellationToken)
    {
        var entries = await ListAsync(server, cancellationToken);
        return (entries.Find(entry => entry.Id == MadeIn(server)) ?? entries.Find(entry => entry.Name == ClientName))?.Host;
    }

    /// <inheritdoc/>
    public void Dispose() => _turn.Dispose();

    private static string NonePassed(ArrServer server, List<ArrTrial> trials) =>
        $"{server.Kind} cannot reach this server. {string.Join(" ", trials.Select(trial => $"At {trial.Address}: {trial.Cause!.TrimEnd('.')}."))}";

    private async Task<(ArrPlan Plan, DownloadClientEntry Entry)> PrepareAsync(
        ArrServer server, IReadOnlyList<OwnAddress> addresses, bool addsAnother, CancellationToken cancellationToken)
    {
        var entries = await ListAsync(server, cancellationToken);
        var own = entries.Find(entry => entry.Id == MadeIn(server)) ?? entries.Find(entry => addresses.Any(entry.IsAt));
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
        // Whether its hidden key is ours shows the program's test of the client as it is.
        if (changes.Count == 0 && await client.TestClientAsync(server, existing.Copy(), cancellationToken) is not null)
            changes = [new ArrChange("apiKey", "", "")];
        var action = changes.Count == 0 ? ArrAction.Keep : own is null ? ArrAction.Ask : ArrAction.Change;
        var plan = new ArrPlan(action, passed.Address, trials) { Client = existing.Name, Changes = changes };
        return (action == ArrAction.Keep ? plan : plan with { Token = TokenOf(existing, entry) }, entry);
    }

    /// <summary>The id under which the program keeps the client that Sluice made. Another key is a program that was installed anew.</summary>
    private int? MadeIn(ArrServer server) => store.Find(server) is { ClientId: { } id } saved && saved.Key == server.Key ? id : null;

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
        // The programs want each name once.
        for (var number = 2; others.Exists(entry => entry.Name.Equals(name, StringComparison.OrdinalIgnoreCase)); number++)
            name = string.Create(CultureInfo.InvariantCulture, $"{ClientName} {number}");
        return DownloadClientEntry.FromTemplate(template, name);
    }
}
