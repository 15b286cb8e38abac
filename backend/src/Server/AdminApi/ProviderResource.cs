using System.Globalization;
using System.Net.ServerSentEvents;
using System.Runtime.CompilerServices;
using System.Text.Json;
using Microsoft.AspNetCore.Http.HttpResults;
using Microsoft.AspNetCore.Http.Timeouts;
using Sluice.Server.Providers;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.AdminApi;

/// <summary><c>/api/providers</c>: the news servers, their condition, and a provider test.</summary>
internal static class ProviderResource
{
    // Maps fields of the saved JSON to their names in the API.
    private static readonly Dictionary<string, string> FieldNames = new()
    {
        ["Host"] = "host",
        ["Port"] = "port",
        ["UseSsl"] = "tls",
        ["User"] = "user",
        ["Pass"] = "password",
        ["MaxConnections"] = "maxConnections",
        ["Nickname"] = "name",
        ["Type"] = "use",
        ["Priority"] = "priority",
        ["StorageGroup"] = "backbone",
        ["SkipTlsVerification"] = "skipsCertificateCheck",
        ["ByteLimit"] = "byteLimit",
        ["ResetDay"] = "resetDay",
        ["ReservePercent"] = "reservePercent",
        ["BytesUsedOffset"] = "usedBefore",
    };

    public static void MapProviders(this RouteGroupBuilder api)
    {
        var providers = api.MapGroup("/providers");
        providers.MapGet("", List).WithName("ListProviders");
        providers.MapPost("", AddAsync).WithName("AddProvider");
        providers.MapPut("/{id}", ChangeAsync).WithName("ChangeProvider");
        providers.MapDelete("/{id}", RemoveAsync).WithName("RemoveProvider");
        providers.MapPost("/{id}/reset", ResetAsync).WithName("ResetProvider");
        providers.MapPost("/{id}/refill", RefillAsync).WithName("RefillProvider");
        // Sends `step` events with ProviderTestStep, then one `done` event with ProviderTestOutcome.
        providers.MapPost("/test", Test).Produces<ProviderTestStep>(StatusCodes.Status200OK, "text/event-stream").WithName("TestProvider");
    }

    private static Ok<ProviderRows> List(ProviderTable table, ProviderEditor editor) => TypedResults.Ok(new ProviderRows(table.Rows(), editor.Lock));

    private static Task<Results<Ok<ProviderRow>, JsonHttpResult<Problem>>> AddAsync(
        ProviderSave provider, ProviderEditor editor, ProviderTable table, TimeProvider time, CancellationToken cancellationToken) =>
        SaveAsync(WithQuota(Options(provider, Guid.NewGuid(), null), provider.Quota, time), provider.Password, isNew: true, editor, table, cancellationToken);

    private static async Task<Results<Ok<ProviderRow>, JsonHttpResult<Problem>>> ChangeAsync(
        string id, ProviderSave provider, ProviderEditor editor, ProviderTable table, TimeProvider time, CancellationToken cancellationToken) =>
        Guid.TryParse(id, out var known) && editor.Find(known) is { } saved
            ? await SaveAsync(WithQuota(Options(provider, known, saved), provider.Quota, time), provider.Password, isNew: false, editor, table, cancellationToken)
            : NoProvider();

    private static async Task<Results<NoContent, JsonHttpResult<Problem>>> RemoveAsync(string id, ProviderEditor editor, CancellationToken cancellationToken)
    {
        if (Locked(editor) is { } locked)
            return locked;
        if (!Guid.TryParse(id, out var known))
            return NoProvider();
        return await editor.RemoveAsync(known, cancellationToken) switch
        {
            null => NoProvider(),
            { Count: > 0 } errors => AdminProblem.BadInput(Named(errors)),
            _ => TypedResults.NoContent(),
        };
    }

    private static async Task<Results<Ok<ProviderRow>, JsonHttpResult<Problem>>> ResetAsync(
        string id, ProviderReset request, ProviderHost host, ProviderUsage usage, ProviderQuotas quotas, ProviderTable table, CancellationToken cancellationToken)
    {
        var (index, state) = Find(id, host);
        if (state is null)
            return NoProvider();
        if (request.What == ProviderMemoryKind.Breaker)
            host.Unblock(index);
        else if (request.What == ProviderMemoryKind.Cap)
            host.ForgetCap(index);
        else
        {
            await usage.ForgetAsync(state.Options.Id, cancellationToken);
            await quotas.ResetAsync(state.Account, cancellationToken);
        }

        return table.Find(state.Options.Id) is { } row ? TypedResults.Ok(row) : NoProvider();
    }

    private static async Task<Results<Ok<ProviderRow>, JsonHttpResult<Problem>>> RefillAsync(
        string id, ProviderRefill request, ProviderHost host, ProviderQuotas quotas, ProviderTable table, CancellationToken cancellationToken)
    {
        if (Find(id, host).State is not { } state)
            return NoProvider();
        if (request.Bytes is < 1 or > ProviderJson.MaxBytes)
            return AdminProblem.BadInput("bytes", string.Create(CultureInfo.InvariantCulture, $"Must be a whole number from 1 to {ProviderJson.MaxBytes}."));
        if (!await quotas.RefillAsync(state.Account, request.Bytes, cancellationToken))
            return AdminProblem.WrongState("This provider has no data cap, or too much was added to it already.");
        return table.Find(state.Options.Id) is { } row ? TypedResults.Ok(row) : NoProvider();
    }

    private static (int Index, ProviderState? State) Find(string id, ProviderHost host) => Guid.TryParse(id, out var known)
        ? host.Providers.Index().FirstOrDefault(provider => provider.Item.Options.Id == known)
        : default;

    private static IResult Test(ProviderTest test, HttpContext http, ProviderEditor editor, AccountChecks checks)
    {
        var saved = Guid.TryParse(test.Id, out var id) ? editor.Find(id) : null;
        if (test.Id is not null && saved is null)
            return NoProvider();
        var provider = Options(
            new ProviderSave(test.Host, test.Port, test.Tls, test.User, test.Password, test.MaxConnections ?? AccountCheck.MostConnections, null, SkipsCertificateCheck: test.SkipsCertificateCheck),
            saved?.Id ?? Guid.NewGuid(),
            saved);
        provider = provider with { Password = ProviderEditor.Password(provider, test.Password, saved, out var isNeeded) };
        if (ProviderEditor.Check(provider) is { Count: > 0 } errors)
            return AdminProblem.BadInput(Named(errors));
        if (isNeeded && saved is null)
            return AdminProblem.BadInput("password", "Enter the password.");
        if (checks.TryBegin(provider, isNeeded) is not { } check)
            return AdminProblem.WrongState("Another test is running. Wait until it has finished.");

        http.Response.RegisterForDispose(check);
        http.Response.Headers["X-Accel-Buffering"] = "no";
        // No request timeout is needed, because each stage of the test has its own deadline.
        http.Features.Get<IHttpRequestTimeoutFeature>()?.DisableTimeout();
        return TypedResults.ServerSentEvents(WriteAsync(check, http.RequestAborted));
    }

    /// <summary>Writes the steps as events. The data is text, because ahead-of-time serialization cannot mix two types in one stream.</summary>
    private static async IAsyncEnumerable<SseItem<string>> WriteAsync(AccountCheck check, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        await foreach (var step in check.RunAsync(cancellationToken))
            yield return new SseItem<string>(JsonSerializer.Serialize(step, AdminJson.Default.ProviderTestStep), "step");
        yield return new SseItem<string>(JsonSerializer.Serialize(check.Outcome, AdminJson.Default.ProviderTestOutcome), "done");
    }

    private static async Task<Results<Ok<ProviderRow>, JsonHttpResult<Problem>>> SaveAsync(
        ProviderOptions provider, string? password, bool isNew, ProviderEditor editor, ProviderTable table, CancellationToken cancellationToken)
    {
        if (Locked(editor) is { } locked)
            return locked;
        if (await editor.SaveAsync(provider, password, isNew, cancellationToken) is not { } errors)
            return NoProvider();
        if (errors.Count > 0)
            return AdminProblem.BadInput(Named(errors));
        return table.Find(provider.Id) is { } row ? TypedResults.Ok(row) : NoProvider();
    }

    /// <summary>Converts a form to options. A saved backup provider keeps its kind, because the form does not distinguish the kinds of backup.</summary>
    private static ProviderOptions Options(ProviderSave provider, Guid id, ProviderOptions? saved)
    {
        var host = provider.Host.Trim();
        var name = provider.Name?.Trim();
        return (saved ?? new ProviderOptions { Name = host, Host = host }) with
        {
            Id = id,
            Name = string.IsNullOrEmpty(name) ? host : name,
            Host = host,
            Port = provider.Port,
            UseTls = provider.Tls,
            SkipTlsVerification = provider.SkipsCertificateCheck,
            User = provider.User.Length > 0 ? provider.User : null,
            MaxConnections = provider.MaxConnections,
            Kind = provider.Use switch
            {
                ProviderUseKind.Disabled => ProviderKind.Disabled,
                ProviderUseKind.Backup => saved?.Kind == ProviderKind.BackupOnly ? ProviderKind.BackupOnly : ProviderKind.BackupWithChecks,
                _ => ProviderKind.Pooled,
            },
            Priority = provider.Priority,
            Backbone = provider.Backbone?.Trim() ?? "",
        };
    }

    private static ProviderOptions WithQuota(ProviderOptions options, ProviderQuotaSave? quota, TimeProvider time)
    {
        if (quota is null)
            return options;
        return options with
        {
            Quota = quota.ByteLimit == 0 ? null : new DataQuota(quota.ByteLimit)
            {
                ResetDay = quota.ResetDay,
                ReservePercent = quota.ReservePercent ?? ProviderJson.UsualReserve(options.Kind, quota.ResetDay),
                UsedBefore = quota.UsedBefore ?? options.Quota?.UsedBefore ?? 0,
                UsedBeforeAt = quota.UsedBefore is null ? options.Quota?.UsedBeforeAt : time.WallTime(),
            },
        };
    }

    private static JsonHttpResult<Problem>? Locked(ProviderEditor editor) => editor.Refusal is { } sentence ? AdminProblem.WrongState(sentence) : null;

    private static JsonHttpResult<Problem> NoProvider() => AdminProblem.NotFound("There is no such provider.");

    private static Dictionary<string, string[]> Named(IReadOnlyDictionary<string, string[]> errors) =>
        errors.ToDictionary(error => FieldNames.GetValueOrDefault(error.Key, error.Key), error => error.Value);
}
