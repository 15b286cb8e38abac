using System.Globalization;
using Microsoft.AspNetCore.Http.HttpResults;
using Sluice.Server.Arr;
using Sluice.Server.Database;
using Sluice.Server.Library;
using Sluice.Server.Playbacks;
using Sluice.Server.Queue;
using Sluice.Server.Queue.Intake;
using Sluice.Usenet.Media.Titles;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.AdminApi;

/// <summary>DELETE of <c>/api/files</c>, and <c>/api/quarantine</c>: removed files, which can be restored (HLT-60, HLT-61).</summary>
internal static class RemovalResource
{
    private const int MostPlaying = 20;
    private const string OneOfAll = "Name ids, paths, a filter or history items, and only one of them.";

    public static void MapRemovals(this RouteGroupBuilder api)
    {
        api.MapDelete("/files", RemoveAsync).WithName("RemoveFiles");
        api.MapGet("/quarantine", ListAsync).WithName("ListQuarantine");
        api.MapPost("/quarantine/restore", RestoreAsync).WithName("RestoreQuarantine");
        api.MapPost("/quarantine/{id}/restore", RestoreOneAsync).WithName("RestoreQuarantineItem");
    }

    // dryRun: only reports which files would be removed, who is reading them and which programs have imported them.
    private static async Task<Results<Ok<FileRemovalState>, JsonHttpResult<Problem>>> RemoveAsync(
        FileItems items, bool? dryRun, FileSelector selector, RemovedFileList list, FileRemoval removal, UndoWorker undo, PlaybackRegistry playbacks, ArrImports arr,
        CancellationToken cancellationToken)
    {
        if (await selector.SelectAsync(items, cancellationToken) is not { } selected)
            return AdminProblem.BadInput("ids", OneOfAll);
        var (choice, history) = selected;
        var chosen = await list.CountAsync(choice, ArrImports.MostDownloads, cancellationToken);
        if (chosen.Files > FileRemoval.MostFiles || history?.Count > FileRemoval.MostFiles)
            return AdminProblem.BadInput("ids", string.Create(CultureInfo.InvariantCulture, $"At most {FileRemoval.MostFiles:N0} files can be removed at once. Choose fewer."));
        var state = new FileRemovalState(chosen.Files, chosen.Bytes, chosen.Releases, history?.Count ?? 0, [], [], chosen.HistoryIds.Count, null, null);
        if (dryRun == true)
        {
            return TypedResults.Ok(state with
            {
                Playing = await PlayingAsync(choice, list, playbacks, cancellationToken),
                Programs = [.. (await arr.FindAsync(chosen.HistoryIds, cancellationToken)).Select(program => new RemovalProgram(program.Name, program.Imported, program.Failure))],
            });
        }

        if (history is not null)
        {
            var ticket = await undo.RemoveWithFilesAsync(history, choice, cancellationToken);
            return TypedResults.Ok(state with { HistoryItems = ticket?.Count ?? 0, Undo = ticket?.Id, Until = ticket?.Until });
        }

        return await removal.RemoveAsync(choice, cancellationToken) is { } moved
            ? TypedResults.Ok(state with { Files = moved.Files, Releases = moved.Releases.Count, Undo = FileRemoval.IdOf(moved), Until = moved.KeptUntil })
            : TypedResults.Ok(state with { Files = 0, Bytes = 0, Releases = 0 });
    }

    private static async Task<Results<Ok<QuarantinePage>, JsonHttpResult<Problem>>> ListAsync(
        string? cursor, int? limit, string? q, RemovedFileList list, TimeProvider time, CancellationToken cancellationToken)
    {
        var reader = new ListReader();
        var (after, most) = (reader.Place(QuarantineOrder.Newest, cursor), reader.Limit(limit));
        if (reader.Problem is { } problem)
            return problem;
        var page = (await list.ReadAsync(SearchText.WordsOf(q), after, most, time.WallTime(), cancellationToken)).Of(Row);
        return TypedResults.Ok(new QuarantinePage(page.Items, ListReader.CursorOf(QuarantineOrder.Newest, page.Next), page.Total));
    }

    private static async Task<Results<Ok<BulkCount>, JsonHttpResult<Problem>>> RestoreAsync(
        QuarantineItems items, FileRemoval removal, CancellationToken cancellationToken) =>
        TypedResults.Ok(new BulkCount(await removal.ReturnAsync([.. items.Ids.Select(Number).OfType<long>()], cancellationToken)));

    private static async Task<Results<Ok<BulkCount>, JsonHttpResult<Problem>>> RestoreOneAsync(string id, FileRemoval removal, CancellationToken cancellationToken) =>
        Number(id) is { } number && await removal.ReturnAsync([number], cancellationToken) is > 0 and var count
            ? TypedResults.Ok(new BulkCount(count))
            : AdminProblem.NotFound("This is no longer among the removed files.");

    private static async Task<IReadOnlyList<RemovalPlaying>> PlayingAsync(
        FileChoice choice, RemovedFileList list, PlaybackRegistry playbacks, CancellationToken cancellationToken)
    {
        List<PlayedFile> open = [.. playbacks.List().Where(static played => played.IsOpen)];
        var chosen = await list.IntersectAsync(choice, [.. open.Select(static played => played.File.Id)], cancellationToken);
        return
        [
            .. open.Where(played => chosen.Contains(played.File.Id)).Take(MostPlaying)
                .Select(static played => new RemovalPlaying(played.Client.Address, played.Client.Player, played.File.Name)),
        ];
    }

    private enum QuarantineOrder
    {
        Newest,
    }

    private static long? Number(string id) => long.TryParse(id, NumberStyles.None, CultureInfo.InvariantCulture, out var number) ? number : null;

    private static QuarantineRow Row(RemovedItem item) => new(
        item.Number.ToString(CultureInfo.InvariantCulture),
        item.Category,
        item.Name,
        item.Path,
        item.IsWhole,
        item.Files,
        item.Bytes,
        FilmTitle.Of(ReleaseTitle.Parse(item.Name)),
        item.RemovedAt,
        item.KeptUntil);
}

/// <summary>Finds the files that a call selects for removal.</summary>
internal sealed class FileSelector(RemovedFileList list, LibraryList library, HistoryRows history)
{
    /// <summary>Returns the files and the numbers of the history items to remove with them. Null unless exactly one kind of choice is given.</summary>
    public async Task<(FileChoice Choice, IReadOnlyList<long>? History)?> SelectAsync(FileItems items, CancellationToken cancellationToken)
    {
        if (new object?[] { items.Ids, items.Paths, items.Filter, items.History }.Count(static given => given is not null) != 1)
            return null;
        if (items.History is { } chosen)
        {
            return await history.SelectAsync(chosen, cancellationToken) is { } numbers
                ? (await list.FindOfHistoryAsync(numbers, cancellationToken), numbers)
                : null;
        }

        return (await FindAsync(items, cancellationToken), null);
    }

    private async Task<FileChoice> FindAsync(FileItems items, CancellationToken cancellationToken)
    {
        if (items.Ids is { } ids)
            return await list.FindAsync([.. ids.Select(static id => Guid.TryParseExact(id, "D", out var guid) ? guid : (Guid?)null).OfType<Guid>()], cancellationToken);
        if (items.Paths is { } paths)
            return await list.FindAsync(paths, cancellationToken);
        var path = items.Filter!.Path ?? "";
        var words = SearchText.WordsOf(items.Filter.Q);
        if (words.Count == 0)
            return await list.FindAsync([path], cancellationToken);
        // Find one more than the maximum, so that a longer list is refused instead of truncated.
        var found = await library.SearchAsync(path.Split('/', StringSplitOptions.RemoveEmptyEntries), words, ListOrder.Name, null, FileRemoval.MostFiles + 1, cancellationToken);
        return await list.FindAsync([.. (found?.Items ?? []).Select(static entry => entry.FileId).OfType<Guid>()], cancellationToken);
    }
}
