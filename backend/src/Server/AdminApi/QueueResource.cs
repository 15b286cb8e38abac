using Microsoft.AspNetCore.Http.HttpResults;
using Sluice.Server.Database;
using Sluice.Server.Events;
using Sluice.Server.Library;
using Sluice.Server.Listening;
using Sluice.Server.Outbound;
using Sluice.Server.Queue;
using Sluice.Server.Queue.Intake;

namespace Sluice.Server.AdminApi;

/// <summary><c>/api/queue</c>: what is imported, and what is to be.</summary>
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
        QueueAddress address, UrlFetchWorker fetches, AddressGuard guard, QueueRows rows, CancellationToken cancellationToken)
    {
        var reason = Uri.TryCreate(address.Url.Trim(), UriKind.Absolute, out var url) ? guard.Refuse(url) : "it is no address";
        if (reason is not null)
            return AdminProblem.BadInput("url", $"This address cannot be asked for: {reason}.");
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

    /// <summary>What was added is there, whether the client still waits for the answer or not.</summary>
    private static async Task<Results<Ok<QueueAdded>, JsonHttpResult<Problem>>> AnswerAsync(AddOutcome outcome, QueueRows rows) => outcome.Refusal is { } refusal
        ? NzbForm.Refuse(refusal)
        : TypedResults.Ok(await rows.NamesOfAsync(outcome.Ids, CancellationToken.None));

    private static async Task<Results<Ok<QueueRow>, JsonHttpResult<Problem>>> ChangeAsync(
        string id, QueueChange change, ItemChanges changes, QueueRows rows, CancellationToken cancellationToken)
    {
        if (change.Name is { } name && (string.IsNullOrWhiteSpace(name) || name.Length > MaxName))
            return AdminProblem.BadInput("name", $"A name has 1 to {MaxName} characters.");
        if (change.Position < 0)
            return AdminProblem.BadInput("position", "The first position is 0.");
        if (change is { Position: not null, Step: not null })
            return AdminProblem.BadInput("step", "Name a position or a step, and not both.");
        await changes.ApplyAsync(id, change, cancellationToken);
        return await rows.ReadAsync([id], cancellationToken) is [var row] ? TypedResults.Ok(row) : AdminProblem.NotFound(NoItem);
    }

    private static async Task<Results<Ok<Removed>, JsonHttpResult<Problem>>> RemoveOneAsync(string id, UndoWorker undo, CancellationToken cancellationToken) =>
        await undo.RemoveItemsAsync([id], cancellationToken) is { } ticket ? TypedResults.Ok(Show(ticket)) : AdminProblem.NotFound(NoItem);

    private static async Task<Results<Ok<BulkCount>, JsonHttpResult<Problem>>> ChangeAllAsync(
        QueueBulkChange change, ItemChanges changes, QueueRows rows, CancellationToken cancellationToken)
    {
        if (change is { Category: null, Priority: null, Paused: null })
            return AdminProblem.BadInput("category", "Name what is to be changed.");
        if (await rows.SelectAsync(change.Ids, change.Filter, cancellationToken) is not { } ids)
            return AdminProblem.BadInput("ids", OneOfTwo);
        await changes.ApplyAsync(ids, change.Category, change.Priority, change.Paused, cancellationToken);
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

    private static JsonHttpResult<Problem> Locked() => AdminProblem.WrongState("The environment of the server decides whether the queue is paused.");

    /// <summary>What was taken away, as an answer.</summary>
    internal static Removed Show(UndoTicket? ticket) => new(ticket?.Count ?? 0, ticket?.Id, ticket?.Until);

    /// <summary>An empty word of a query is none.</summary>
    internal static string? Given(string? word) => string.IsNullOrEmpty(word) ? null : word;
}

/// <summary>Changes items of the queue, one property after the other.</summary>
internal sealed class ItemChanges(
    QueueStore store, QueueRenaming renaming, QueueOrderStore order, ItemPause pause, QueueActivity activity, QueueSchedule schedule)
{
    /// <summary>Changes an item; nothing happens where it is not there.</summary>
    public async Task ApplyAsync(string id, QueueChange change, CancellationToken cancellationToken)
    {
        if (change.Name is { } name)
            await renaming.RenameAsync(id, name, "", cancellationToken);
        if (change.Password is { } password)
            await renaming.SetPasswordAsync(id, password, cancellationToken);
        await ApplyAsync([id], change.Category, change.Priority, null, cancellationToken);
        if (change.Position is { } position)
            await order.MoveAsync(id, connection => QueueOrderStore.FindAt(connection, Math.Min(position, QueueStore.Count(connection) - 1)), [.. activity.Current.Keys], cancellationToken);
        else if (change.Step is { } step)
            await order.MoveAsync(id, connection => QueueOrderStore.FindBeside(connection, id, step), [.. activity.Current.Keys], cancellationToken);
        if (change.Paused is { } paused && await store.FindAsync(id, cancellationToken) is { } item && item.Paused != paused)
            await pause.SetAsync([id], paused, cancellationToken);
        schedule.Wake();
    }

    /// <summary>Changes several items alike.</summary>
    public async Task ApplyAsync(IReadOnlyList<string> ids, string? category, QueuePriority? priority, bool? paused, CancellationToken cancellationToken)
    {
        if (category is not null)
            await renaming.SetCategoryAsync(ids, category, cancellationToken);
        if (priority is { } band)
            await order.SetPriorityAsync(ids, band, cancellationToken);
        if (paused is { } waits)
            await pause.SetAsync(ids, waits, cancellationToken);
        // An item of Force may begin now, although the queue is paused.
        schedule.Wake();
    }
}
