using System.Text.Json.Serialization;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Http.HttpResults;
using Microsoft.Extensions.Options;
using Sluice.Server.Arr;
using Sluice.Server.Settings;

namespace Sluice.Server.AdminApi;

/// <summary>The result of the last check since startup.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<ArrState>))]
internal enum ArrState
{
    Unchecked,
    Ok,
    Failed,
}

/// <summary>
/// A program to call. A null key means the saved key, which is sent only to the saved address. <c>Agreed</c> is the token of a plan whose changes are accepted,
/// or <c>add</c> to add another client next to the existing one.
/// </summary>
internal sealed record ArrRequest(ArrKind Kind, string Url, string? Key = null, string? Category = null, string? Agreed = null) : IJsonBody<ArrRequest>;

/// <summary>A saved program, by id, or the properties of another one.</summary>
internal sealed record PathCheckRequest(string? Id = null, ArrKind? Kind = null, string? Url = null, string? Key = null, string? Category = null) : IJsonBody<PathCheckRequest>;

internal sealed record ArrInstance(
    string Id, ArrKind Kind, string Name, string Url, string Category, DateTimeOffset? LastCheck, ArrState State, string? Sentence);

/// <summary>The saved programs. <c>Locked</c> names the environment variable that sets them; null if they can be changed.</summary>
internal sealed record ArrInstances(IReadOnlyList<ArrInstance> Items, string? Locked);

internal sealed record ArrTest(string Version, string InstanceName);

/// <summary>An address of this server that a program has tried.</summary>
internal sealed record ArrAttempt(string Address, bool Ok, string? Cause);

/// <summary>
/// How a connection would change a program's download clients. <c>Address</c> passed the program's own test. <c>Client</c> names the client to change; null if
/// one is added. <c>Token</c> accepts the changes; null if there are none.
/// </summary>
internal sealed record ArrPlanned(ArrAction Action, string Address, string? Client, IReadOnlyList<ArrChange> Changes, string? Token);

/// <summary>Whether a program sees the files. <c>VolumeLine</c> is the volume to add; null if that would not help.</summary>
internal sealed record PathCheck(bool Ok, string OurPath, string TheirPath, bool Sees, string Sentence, string? VolumeLine);

internal sealed record ArrConnected(ArrInstance Instance, string Address, bool Created, IReadOnlyList<ArrAttempt> Tried, PathCheck Path);

/// <summary><c>/api/arr</c>: connects Sonarr and similar programs in one call.</summary>
internal static class ArrResource
{
    public static void MapArr(this RouteGroupBuilder api)
    {
        var arr = api.MapGroup("/arr");
        arr.MapGet("", List).WithName("ListArr");
        arr.MapDelete("/{id}", RemoveAsync).WithName("RemoveArr");
        arr.MapPost("/test", TestAsync).WithName("TestArr");
        arr.MapPost("/plan", PlanAsync).WithName("PlanArr");
        arr.MapPost("/connect", ConnectAsync).WithName("ConnectArr");
        arr.MapPost("/path-check", CheckPathAsync).WithName("CheckArrPath");
    }

    private static Ok<ArrInstances> List(ArrStore store) =>
        TypedResults.Ok(new ArrInstances([.. store.All.Select(server => Instance(server, store))], store.Lock));

    private static async Task<Results<NoContent, JsonHttpResult<Problem>>> RemoveAsync(string id, ArrStore store, CancellationToken cancellationToken)
    {
        if (Locked(store) is { } locked)
            return locked;
        return await store.RemoveAsync(id, cancellationToken) ? TypedResults.NoContent() : AdminProblem.NotFound("There is no such program.");
    }

    private static async Task<Results<Ok<ArrTest>, JsonHttpResult<Problem>>> TestAsync(
        ArrRequest request, ArrStore store, ArrClient client, IOptionsMonitor<ApiOptions> api, CancellationToken cancellationToken)
    {
        if (Read(request, store, api.CurrentValue, out var problem) is not { } server)
            return problem!;
        try
        {
            var status = await client.StatusAsync(server, cancellationToken);
            Note(store, server, null);
            return TypedResults.Ok(new ArrTest(status.Version, status.InstanceName));
        }
        catch (ArrException e)
        {
            Note(store, server, e.Message);
            return AdminProblem.TestFailed(e.Message);
        }
    }

    private static async Task<Results<Ok<ArrPlanned>, JsonHttpResult<Problem>>> PlanAsync(
        ArrRequest request, HttpContext http, ArrStore store, ArrConnector connector, IServer listener, IOptionsMonitor<ApiOptions> api, CancellationToken cancellationToken)
    {
        if (ReadForConnection(request, store, api.CurrentValue, out var problem) is not { } server)
            return problem!;
        try
        {
            var plan = await connector.PlanAsync(server, Addresses(http.Request, listener), cancellationToken);
            return TypedResults.Ok(new ArrPlanned(
                plan.Action,
                plan.Address.ToString(),
                plan.Client,
                plan.Changes,
                plan.Token));
        }
        catch (ArrException e)
        {
            Note(store, server, e.Message);
            return AdminProblem.TestFailed(e.Message);
        }
    }

    private static async Task<Results<Ok<ArrConnected>, JsonHttpResult<Problem>>> ConnectAsync(
        ArrRequest request,
        HttpContext http,
        ArrStore store,
        ArrConnector connector,
        PathDoctor doctor,
        IServer listener,
        IOptionsMonitor<ApiOptions> api,
        CancellationToken cancellationToken)
    {
        if (ReadForConnection(request, store, api.CurrentValue, out var problem) is not { } server)
            return problem!;
        try
        {
            var (plan, saved) = await connector.ConnectAsync(server, Addresses(http.Request, listener), request.Agreed, cancellationToken);
            if (saved is null)
                return AdminProblem.WrongState(NotAgreed(server, plan));
            return TypedResults.Ok(new ArrConnected(
                Instance(saved, store),
                plan.Address.ToString(),
                plan.Action == ArrAction.Add,
                [.. plan.Trials.Select(trial => new ArrAttempt(trial.Address.ToString(), trial.Cause is null, trial.Cause))],
                Shape(await doctor.CheckAsync(saved, cancellationToken))));
        }
        catch (ArrException e)
        {
            Note(store, server, e.Message);
            return AdminProblem.TestFailed(e.Message);
        }
    }

    private static async Task<Results<Ok<PathCheck>, JsonHttpResult<Problem>>> CheckPathAsync(
        PathCheckRequest request, ArrStore store, PathDoctor doctor, IOptionsMonitor<ApiOptions> api, CancellationToken cancellationToken)
    {
        ArrServer? server;
        if (request.Id is { } id)
        {
            server = store.All.FirstOrDefault(saved => saved.Id == id);
            if (server is null)
                return AdminProblem.NotFound("There is no such program.");
        }
        else if (request is not { Kind: { } kind, Url: { } url })
            return AdminProblem.BadInput("id", "Name a saved program, or a kind and an address.");
        else if ((server = Read(new ArrRequest(kind, url, request.Key, request.Category), store, api.CurrentValue, out var problem)) is null)
            return problem!;

        try
        {
            return TypedResults.Ok(Shape(await doctor.CheckAsync(server, cancellationToken)));
        }
        catch (ArrException e)
        {
            Note(store, server, e.Message);
            return AdminProblem.TestFailed(e.Message);
        }
    }

    private static JsonHttpResult<Problem>? Locked(ArrStore store) => store.Refusal is { } sentence ? AdminProblem.WrongState(sentence) : null;

    private static string NotAgreed(ArrServer server, ArrPlan plan) =>
        $"{server.Kind} has a download client {plan.Client} whose {string.Join(", ", plan.Changes.Select(change => change.Name))} would change. "
        + "Look at the plan (POST /api/arr/plan) and send its token as \"agreed\"."
        + (plan.Action == ArrAction.Ask ? " Or send \"add\", and it gets another client." : "");

    /// <summary>Returns the program to connect, or null with the problem.</summary>
    private static ArrServer? ReadForConnection(ArrRequest request, ArrStore store, ApiOptions api, out JsonHttpResult<Problem>? problem)
    {
        if ((problem = Locked(store)) is not null || Read(request, store, api, out problem) is not { } server)
            return null;
        if (api.Categories.Contains(server.Category, StringComparer.Ordinal))
            return server;
        problem = AdminProblem.BadInput("category", $"There is no category {server.Category}. Add it to the categories first.");
        return null;
    }

    /// <summary>Returns the program that a request refers to, or null with the problem.</summary>
    private static ArrServer? Read(ArrRequest request, ArrStore store, ApiOptions api, out JsonHttpResult<Problem>? problem)
    {
        problem = null;
        var errors = new Dictionary<string, string[]>();
        var kind = request.Kind;
        var url = ArrJson.ReadUrl(request.Url);
        if (url is null)
            errors["url"] = [$"Enter the address with http or https, such as http://{request.Kind.ToString().ToLowerInvariant()}:8989."];
        var saved = store.All.FirstOrDefault(server => server.Kind == kind && server.Url.Equals(url, StringComparison.OrdinalIgnoreCase));
        var key = string.IsNullOrWhiteSpace(request.Key) || request.Key == SettingsValidator.Mask ? saved?.Key : request.Key.Trim();
        if (key is null)
            errors["key"] = ["Enter the API key. A saved one goes only to the address that it was saved for."];
        else if (key.Length > 256 || !key.All(char.IsAsciiLetterOrDigit))
            errors["key"] = ["An API key has letters and digits only."];
        if (errors.Count == 0)
            return new ArrServer(saved?.Id ?? "", kind, saved?.Name ?? kind.ToString(), url!, key!, request.Category ?? saved?.Category ?? kind.UsualCategory(api.Categories));
        problem = AdminProblem.BadInput(errors);
        return null;
    }

    /// <summary>Returns the addresses to try: the address in the browser, the container's name, and the usual host name.</summary>
    private static IReadOnlyList<OwnAddress> Addresses(HttpRequest request, IServer listener)
    {
        var urlBase = request.PathBase.Value ?? "";
        var seen = request.Host;
        var addresses = new List<OwnAddress> { new(seen.Host.Trim('[', ']'), seen.Port ?? (request.IsHttps ? 443 : 80), request.IsHttps, urlBase) };
        if (listener.Features.Get<IServerAddressesFeature>()?.Addresses.FirstOrDefault() is { } bound)
        {
            var binding = BindingAddress.Parse(bound);
            var useSsl = binding.Scheme == Uri.UriSchemeHttps;
            addresses.Add(new(Environment.MachineName.ToLowerInvariant(), binding.Port, useSsl, urlBase));
            addresses.Add(new("sluice", binding.Port, useSsl, urlBase));
        }

        return [.. addresses.Distinct()];
    }

    private static void Note(ArrStore store, ArrServer server, string? failure)
    {
        if (server.Id.Length > 0)
            store.Note(server.Id, failure);
    }

    private static ArrInstance Instance(ArrServer server, ArrStore store)
    {
        var check = store.CheckOf(server.Id);
        var state = check is null ? ArrState.Unchecked : check.Failure is null ? ArrState.Ok : ArrState.Failed;
        return new ArrInstance(server.Id, server.Kind, server.Name, server.Url, server.Category, check?.At, state, check?.Failure);
    }

    private static PathCheck Shape(PathFinding finding) => new(
        finding.Sees,
        finding.OurPath,
        finding.TheirPath,
        finding.Sees,
        finding.Sentence,
        finding.VolumeLine);
}
