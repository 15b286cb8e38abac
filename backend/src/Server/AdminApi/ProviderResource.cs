using System.Net.ServerSentEvents;
using System.Runtime.CompilerServices;
using System.Text.Json;
using Microsoft.AspNetCore.Http.HttpResults;
using Microsoft.AspNetCore.Http.Timeouts;
using Sluice.Server.Providers;
using Sluice.Usenet.Nntp;

namespace Sluice.Server.AdminApi;

/// <summary><c>/api/providers</c>: the news servers, how they are, and a test of one.</summary>
internal static class ProviderResource
{
    // Fields of the saved JSON by the names that the API has for them.
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
    };

    /// <summary>Maps the resource.</summary>
    public static void MapProviders(this RouteGroupBuilder api)
    {
        var providers = api.MapGroup("/providers");
        providers.MapGet("", List).WithName("ListProviders");
        providers.MapPost("", AddAsync).WithName("AddProvider");
        providers.MapPut("/{id}", ChangeAsync).WithName("ChangeProvider");
        providers.MapDelete("/{id}", RemoveAsync).WithName("RemoveProvider");
        providers.MapPost("/{id}/reset", ResetAsync).WithName("ResetProvider");
        // Server-sent events: `step` with ProviderTestStep, then `done` with ProviderTestOutcome.
        providers.MapPost("/test", Test).Produces<ProviderTestStep>(StatusCodes.Status200OK, "text/event-stream").WithName("TestProvider");
    }

    private static Ok<ProviderRows> List(ProviderTable table, ProviderEditor editor) => TypedResults.Ok(new ProviderRows(table.Rows(), editor.Lock));

    private static Task<Results<Ok<ProviderRow>, JsonHttpResult<Problem>>> AddAsync(
        ProviderSave provider, ProviderEditor editor, ProviderTable table, CancellationToken cancellationToken) =>
        SaveAsync(Options(provider, Guid.NewGuid(), null), provider.Password, isNew: true, editor, table, cancellationToken);

    private static async Task<Results<Ok<ProviderRow>, JsonHttpResult<Problem>>> ChangeAsync(
        string id, ProviderSave provider, ProviderEditor editor, ProviderTable table, CancellationToken cancellationToken) =>
        Guid.TryParse(id, out var known) && editor.Find(known) is { } saved
            ? await SaveAsync(Options(provider, known, saved), provider.Password, isNew: false, editor, table, cancellationToken)
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
        string id, ProviderReset request, ProviderHost host, ProviderUsage usage, ProviderTable table, CancellationToken cancellationToken)
    {
        var index = Guid.TryParse(id, out var known) ? host.Providers.ToList().FindIndex(state => state.Options.Id == known) : -1;
        if (index < 0)
            return NoProvider();
        if (request.What == ProviderMemoryKind.Breaker)
            host.Unblock(index);
        else if (request.What == ProviderMemoryKind.Cap)
            host.ForgetCap(index);
        else
            await usage.ForgetAsync(known, cancellationToken);
        return table.Find(known) is { } row ? TypedResults.Ok(row) : NoProvider();
    }

    private static IResult Test(ProviderTest test, HttpContext http, ProviderEditor editor, ProviderTester tester, ProviderHost host, NewestPost newest)
    {
        var saved = Guid.TryParse(test.Id, out var id) ? editor.Find(id) : null;
        if (test.Id is not null && saved is null)
            return NoProvider();
        var provider = Options(
            new ProviderSave(test.Host, test.Port, test.Tls, test.User, test.Password, test.MaxConnections ?? ProviderTestRun.MostConnections, null, SkipsCertificateCheck: test.SkipsCertificateCheck),
            saved?.Id ?? Guid.NewGuid(),
            saved);
        provider = provider with { Password = ProviderEditor.Password(provider, test.Password, saved, out var isNeeded) };
        if (ProviderEditor.Check(provider) is { Count: > 0 } errors)
            return AdminProblem.BadInput(Named(errors));
        if (isNeeded && saved is null)
            return AdminProblem.BadInput("password", "Enter the password.");
        if (tester.TryTakeTurn() is not { } turn)
            return AdminProblem.WrongState("Another test is under way. Wait until it has ended.");

        http.Response.RegisterForDispose(turn);
        http.Response.Headers["X-Accel-Buffering"] = "no";
        // Each step has a deadline of its own.
        http.Features.Get<IHttpRequestTimeoutFeature>()?.DisableTimeout();
        var isSavedHost = host.Providers.Any(state => state.Options.Host.Equals(provider.Host, StringComparison.OrdinalIgnoreCase));
        var subject = new TestSubject(provider, isNeeded, isSavedHost, provider.MaxConnections);
        return TypedResults.ServerSentEvents(WriteAsync(tester.RunAsync(subject, newest.ListAsync, http.RequestAborted), http.RequestAborted));
    }

    /// <summary>The news as events. Text, because data of two types cannot be written ahead of time in any other way.</summary>
    private static async IAsyncEnumerable<SseItem<string>> WriteAsync(IAsyncEnumerable<TestStep> steps, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var outcome = new ProviderTestOutcome(true, null, null);
        await foreach (var step in steps.WithCancellation(cancellationToken))
        {
            if (step is { State: ProviderTestState.Ok, Stage: ProviderTestStage.Ceiling })
                outcome = outcome with { Connections = (int?)step.Value };
            else if (step is { State: ProviderTestState.Ok, Stage: ProviderTestStage.Speed })
                outcome = outcome with { BytesPerSecond = step.Value };
            else if (step.State == ProviderTestState.Failed)
                outcome = outcome with { Ok = false };
            var shown = new ProviderTestStep(
                step.Stage, step.State, Math.Round(step.Time.TotalMilliseconds, 1), step.Cause, step.Sentence, step.Value);
            yield return new SseItem<string>(JsonSerializer.Serialize(shown, ProviderResourceJson.Default.ProviderTestStep), "step");
        }

        yield return new SseItem<string>(JsonSerializer.Serialize(outcome, ProviderResourceJson.Default.ProviderTestOutcome), "done");
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

    /// <summary>What a form says, in the words of the settings. A backup keeps the kind of backup that it is.</summary>
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

    private static JsonHttpResult<Problem>? Locked(ProviderEditor editor) => editor.Refusal is { } sentence ? AdminProblem.WrongState(sentence) : null;

    private static JsonHttpResult<Problem> NoProvider() => AdminProblem.NotFound("There is no such provider.");

    private static Dictionary<string, string[]> Named(IReadOnlyDictionary<string, string[]> errors) =>
        errors.ToDictionary(error => FieldNames.GetValueOrDefault(error.Key, error.Key), error => error.Value);
}
