namespace Sluice.Server.WebDav.Handlers;

/// <summary>OPTIONS: returns the allowed verbs and the WebDAV classes (DAV-21).</summary>
internal sealed class OptionsHandler : IRequestHandler
{
    public IReadOnlyList<string> Verbs { get; } = [WebDav.Verbs.Options];

    public Task HandleAsync(DavRequest request)
    {
        var response = request.Http.Response;
        Refusal.Write(response, StatusCodes.Status200OK);
        response.Headers.Allow = request.Item is null ? request.Class.AllowUnmapped : request.Class.Allow;
        response.Headers["DAV"] = request.Class.HasLocks ? "1, 2" : "1";
        response.Headers["MS-Author-Via"] = "DAV";
        response.Headers.AcceptRanges = "bytes";
        return Task.CompletedTask;
    }
}
