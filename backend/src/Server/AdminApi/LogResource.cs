using System.Globalization;
using System.Text;
using Microsoft.AspNetCore.Http.HttpResults;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Events;

namespace Sluice.Server.AdminApi;

/// <summary><c>/api/logs</c>: the latest log lines.</summary>
internal static class LogResource
{
    public static void MapLogs(this RouteGroupBuilder api)
    {
        var logs = api.MapGroup("/logs");
        logs.MapGet("", List).WithName("ListLogs");
        logs.MapPut("/level", ChangeLevel).WithName("ChangeLogLevel");
        logs.MapGet("/download", Download).Produces<string>(StatusCodes.Status200OK, "text/plain").WithName("DownloadLogs");
    }

    // level: the minimum severity. The cursor is the number of the oldest line on the previous page.
    private static Results<Ok<LogPage>, JsonHttpResult<Problem>> List(
        string? cursor, int? limit, string? q, string? level, string? source, string? job, string? stream, LogRing ring, LogLevels levels, EventHub events)
    {
        var before = long.MaxValue;
        if (cursor is not null && !long.TryParse(cursor, NumberStyles.None, CultureInfo.InvariantCulture, out before))
            return AdminProblem.BadInput("cursor", "This is no cursor of this list.");
        var reader = new ListReader();
        var (least, most) = (reader.Word<LogLineLevel>("level", level), reader.Limit(limit));
        if (reader.Problem is { } problem)
            return problem;

        var seq = events.Seq;
        var words = SearchText.WordsOf(q);
        var all = ring.Lines;
        var matching = all
            .Where(line => (least is null || line.Level >= LevelOf(least.Value))
                && IsGiven(source, line.Source) && IsGiven(job, line.Job) && IsGiven(stream, line.Stream) && Has(line, words))
            .ToList();
        var items = matching.AsEnumerable().Reverse().Where(line => line.Number < before).Take(most + 1).ToList();
        var hasMore = items.Count > most;
        if (hasMore)
            items.RemoveAt(items.Count - 1);
        var (current, until) = levels.Current;
        return TypedResults.Ok(new LogPage(
            [.. items.Select(Shape)],
            hasMore ? items[^1].Number.ToString(CultureInfo.InvariantCulture) : null,
            matching.Count,
            seq,
            [.. all.Select(line => line.Source).Distinct().Order(StringComparer.Ordinal)],
            LevelOf(current),
            until));
    }

    private static Ok<LogLevelState> ChangeLevel(LogLevelChange change, LogLevels levels)
    {
        levels.Use(change.Level is { } level ? LevelOf(level) : null);
        var (current, until) = levels.Current;
        return TypedResults.Ok(new LogLevelState(LevelOf(current), until));
    }

    private static FileContentHttpResult Download(LogRing ring)
    {
        var text = new StringBuilder();
        foreach (var line in ring.Lines)
            text.Append(TextOf(line)).Append('\n');
        return TypedResults.File(Encoding.UTF8.GetBytes(text.ToString()), "text/plain; charset=utf-8", "sluice-log.txt");
    }

    /// <summary>Returns a line as in a log file.</summary>
    public static string TextOf(KeptLine line) =>
        string.Create(CultureInfo.InvariantCulture, $"{line.At:yyyy-MM-dd'T'HH:mm:ss.fff'Z'} {LevelOf(line.Level),-11} {line.Source}: {line.Text}");

    public static LogLine Shape(KeptLine line) => new(line.Number, line.At, LevelOf(line.Level), line.Source, line.Text, line.Job, line.Stream);

    private static bool IsGiven(string? wanted, string? value) => string.IsNullOrEmpty(wanted) || wanted == value;

    private static bool Has(KeptLine line, IReadOnlyList<string> words)
    {
        if (words.Count == 0)
            return true;
        var folded = SearchText.Fold($"{line.Source} {line.Text} {line.Job} {line.Stream}");
        return words.All(word => folded.Contains(word, StringComparison.Ordinal));
    }

    // The cast is safe, because both enums list the same levels in the same order.
    private static LogLineLevel LevelOf(LogLevel level) => (LogLineLevel)(int)level;

    private static LogLevel LevelOf(LogLineLevel level) => (LogLevel)(int)level;
}
