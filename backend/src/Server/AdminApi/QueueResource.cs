using Microsoft.AspNetCore.Http.HttpResults;
using Sluice.Server.Database;
using Sluice.Server.Events;
using Sluice.Server.Library;
using Sluice.Server.Listening;
using Sluice.Server.Queue;
using Sluice.Server.Queue.Intake;

namespace Sluice.Server.AdminApi;

/// <summary><c>/api/queue</c>: running and waiting imports.</summary>
internal static class QueueResource
{
    private const int MaxName = 1000;
    private const string NoItem = "This item is not in the queue any more.";
    private const string OneOfTwo = "Name ids or a filter, and not both.";

    /// <summary>Maps the resource.</summary>
    public static void MapQueue(this RouteGroupBuilder api)
    {
        var queue = api.MapGroup("/queue");
        queue.MapGet("", ListAsync).WithName("ListQueue");
        queue.MapPost("", AddAsync).Accepts<QueueUpload>("multipart/form-data").WithName("AddNzb");
        queue.MapPost("/address", AddAddressAsync).WithName("AddNzbAddress");
        queue.MapPut("/{id}", ChangeAsync).WithName("ChangeQueueItem");
        queue.MapDelete("/{id}", RemoveOneAsync).WithName("RemoveQueueItem");
        queue.MapPost("/change", ChangeAllAsync).WithName("ChangeQueueItems");
        queue.MapPost("/remove", RemoveAsync).WithName("RemoveQueueItems");
        queue.MapPost("/pause", PauseAsync).WithName("PauseQueue");
        queue.MapPost("/resume", ResumeAsync).WithName("ResumeQueue");
    }

    private static async Task<Results<Ok<QueuePage>, JsonHttpResult<Problem>>> ListAsync(
        string? cursor, int? limit, string? q, string? category, string? state, string? sort,
        QueueRows rows, CategoryRules categories, EventHub events, CancellationToken cancellationToken)
    {
        var read = new ListReader();
        var order = read.Word<QueueOrder>("sort", sort) ?? QueueOrder.Position;
        var query = new QueueQuery { Words = SearchText.WordsOf(q), Category = Given(category), State = read.Word<ItemState>("state", state), Order = order };
        var (after, most) = (read.Place(order, cursor), read.Limit(limit));
        if (read.Problem is { } problem)
            return problem;
        var seq = events.Seq;
        var page = await rows.ReadAsync(query, after, most, cancellationToken);
        var paused = rows.State;
        return TypedResults.Ok(new QueuePage(
            page.Items, ListReader.CursorOf(order, page.Next), page.Total, seq, paused.Paused, paused.PausedUntil, categories.Configured));
    }

    private static async Task<Results<Ok<QueueAdded>, JsonHttpResult<Problem>>> AddAsync(
        HttpContext http, NzbIntake intake, QueueRows rows, CancellationToken cancellationToken)
    {
        http.AllowUpload();
        await using var form = await NzbForm.ReadAsync(http, intake, cancellationToken);
        return form is { Problem: null, Upload: { } upload }
            ? await AnswerAsync(await intake.AcceptAsync(upload, form.Addition, cancellationToken), rows)
            : form.Problem!;
    }

    private static async Task<Results<Ok<QueueAdded>, JsonHttpResult<Problem>>> AddAddressAsync(
        QueueAddress address, UrlFetchWorker fetches, QueueRows rows, CancellationToken cancellationToken)
    {
        if (fetches.Refuse(address.Url, out var url) is { } reason)
            return AdminProblem.BadInput("url", $"Sluice can't download from this address: {reason}.");
        var addition = new NzbAddition
        {
            FileName = "",
            Name = string.IsNullOrWhiteSpace(address.Name) ? null : address.Name,
            Category = address.Category ?? "",
            Password = address.Password,
            Priority = address.Priority ?? QueuePriority.Normal,
        };
        return await AnswerAsync(await fetches.AddAsync(url!, addition, cancellationToken), rows);
    }

    /// <summary>Reports the added items, even if the client no longer waits for the response.</summary>
    private static async Task<Results<Ok<QueueAdded>, JsonHttpResult<Problem>>> AnswerAsync(AddOutcome outcome, QueueRows rows) => outcome.Refusal is { } refusal
        ? NzbForm.Refuse(refusal)
        : TypedResults.Ok(await rows.NamesOfAsync(outcome.Ids, CancellationToken.None));

    private static async Task<Results<Ok<QueueRow>, JsonHttpResult<Problem>>> ChangeAsync(
        string id, QueueChange change, QueueCommands commands, QueueRows rows, CancellationToken cancellationToken)
    {
        if (change.Name is { } name && (string.IsNullOrWhiteSpace(name) || name.Length > MaxName))
            return AdminProblem.BadInput("name", $"A name has 1 to {MaxName} characters.");
        if (change.Position < 0)
            return AdminProblem.BadInput("position", "The first position is 0.");
        if (change is { Position: not null, Step: not null })
            return AdminProblem.BadInput("step", "Name a position or a step, and not both.");
        var asked = new ItemChange(change.Name, change.Category, change.Priority, change.Paused)
        {
            Password = change.Password,
            Position = change.Position,
            Step = change.Step,
        };
        await commands.ChangeAsync(id, asked, cancellationToken);
        return await rows.ReadAsync([id], cancellationToken) is [var row] ? TypedResults.Ok(row) : AdminProblem.NotFound(NoItem);
    }

    private static async Task<Results<Ok<Removed>, JsonHttpResult<Problem>>> RemoveOneAsync(string id, UndoWorker undo, CancellationToken cancellationToken) =>
        await undo.RemoveItemsAsync([id], cancellationToken) is { } ticket ? TypedResults.Ok(Show(ticket)) : AdminProblem.NotFound(NoItem);

    private static async Task<Results<Ok<BulkCount>, JsonHttpResult<Problem>>> ChangeAllAsync(
        QueueBulkChange change, QueueCommands commands, QueueRows rows, CancellationToken cancellationToken)
    {
        if (change is { Category: null, Priority: null, Paused: null })
            return AdminProblem.BadInput("category", "Name what is to be changed.");
        if (await rows.SelectAsync(change.Ids, change.Filter, cancellationToken) is not { } ids)
            return AdminProblem.BadInput("ids", OneOfTwo);
        await commands.ChangeAsync(ids, change.Category, change.Priority, change.Paused, cancellationToken);
        return TypedResults.Ok(new BulkCount(ids.Count));
    }

    private static async Task<Results<Ok<Removed>, JsonHttpResult<Problem>>> RemoveAsync(
        QueueItems items, UndoWorker undo, QueueRows rows, CancellationToken cancellationToken) =>
        await rows.SelectAsync(items.Ids, items.Filter, cancellationToken) is { } ids
            ? TypedResults.Ok(Show(await undo.RemoveItemsAsync(ids, cancellationToken)))
            : AdminProblem.BadInput("ids", OneOfTwo);

    private static async Task<Results<Ok<QueueState>, JsonHttpResult<Problem>>> PauseAsync(
        QueuePauseRequest request, QueuePause pause, QueueRows rows, CancellationToken cancellationToken)
    {
        var most = (int)QueuePause.Longest.TotalMinutes;
        if (request.Minutes is { } minutes && (minutes < 1 || minutes > most))
            return AdminProblem.BadInput("minutes", $"A pause lasts 1 to {most} minutes.");
        var done = await pause.PauseAsync(request.Minutes is { } length ? TimeSpan.FromMinutes(length) : null, cancellationToken);
        return done ? TypedResults.Ok(rows.State) : Locked();
    }

    private static async Task<Results<Ok<QueueState>, JsonHttpResult<Problem>>> ResumeAsync(QueuePause pause, QueueRows rows, CancellationToken cancellationToken) =>
        await pause.ResumeAsync(cancellationToken) ? TypedResults.Ok(rows.State) : Locked();

    private static JsonHttpResult<Problem> Locked() => AdminProblem.WrongState("An environment variable decides whether the queue is paused.");

    /// <summary>Converts a removal to its response.</summary>
    internal static Removed Show(UndoTicket? ticket) => new(ticket?.Count ?? 0, ticket?.Id, ticket?.Until);

    /// <summary>An empty query value counts as absent.</summary>
    internal static string? Given(string? word) => string.IsNullOrEmpty(word) ? null : word;
}
