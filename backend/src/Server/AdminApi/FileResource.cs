using Microsoft.AspNetCore.Http.HttpResults;

namespace Sluice.Server.AdminApi;

/// <summary><c>/api/files</c>: the tree of the library, and what is in it.</summary>
internal static class FileResource
{
    /// <summary>Maps the resource.</summary>
    public static void MapFiles(this RouteGroupBuilder api)
    {
        var files = api.MapGroup("/files");
        files.MapGet("", ListAsync).WithName("ListFiles");
        files.MapGet("/{id}", ShowAsync).WithName("ShowFile");
        files.MapGet("/{id}/tracks", ListTracksAsync).WithName("ListTracks");
        files.MapGet("/{id}/nzb", DownloadAsync).Produces<Stream>(StatusCodes.Status200OK, "application/x-nzb").WithName("DownloadFileNzb");
    }

    // path: below /content, empty for the categories. q: searches the whole library below path.
    private static Task<Results<Ok<FilePage>, JsonHttpResult<Problem>>> ListAsync(
        string? path, string? cursor, int? limit, string? q, string? sort, CancellationToken cancellationToken) => throw new NotImplementedException();

    private static Task<Results<Ok<FileDetail>, JsonHttpResult<Problem>>> ShowAsync(string id, HttpContext http, CancellationToken cancellationToken) => throw new NotImplementedException();

    private static Task<Results<Ok<FileTracks>, JsonHttpResult<Problem>>> ListTracksAsync(string id, CancellationToken cancellationToken) => throw new NotImplementedException();

    private static Task<IResult> DownloadAsync(string id, CancellationToken cancellationToken) => throw new NotImplementedException();
}
