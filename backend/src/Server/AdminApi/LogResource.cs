using Microsoft.AspNetCore.Http.HttpResults;
using Microsoft.AspNetCore.Mvc;

namespace Sluice.Server.AdminApi;

/// <summary><c>/api/logs</c>: the last lines of the log.</summary>
internal static class LogResource
{
    /// <summary>Maps the resource.</summary>
    public static void MapLogs(this RouteGroupBuilder api)
    {
        var logs = api.MapGroup("/logs");
        logs.MapGet("", List).WithName("ListLogs");
        logs.MapPut("/level", ChangeLevel).WithName("ChangeLogLevel");
        logs.MapGet("/download", Download).Produces<string>(StatusCodes.Status200OK, "text/plain").WithName("DownloadLogs");
    }

    private static Results<Ok<LogPage>, JsonHttpResult<Problem>> List(
        string? cursor, int? limit, string? q, LogLineLevel? level, string? source, string? job, string? stream) => throw new NotImplementedException();

    private static Ok<LogLevelState> ChangeLevel([FromBody] LogLevelChange change) => throw new NotImplementedException();

    private static IResult Download() => throw new NotImplementedException();
}
