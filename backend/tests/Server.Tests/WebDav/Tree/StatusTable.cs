using System.Text.RegularExpressions;

namespace Sluice.Server.Tests.WebDav.Tree;

/// <summary>
/// Section 3 of the WebDAV contract, one line per cell: kind of path, verb, and the requests that show each status of the cell. A request is
/// <c>[VERB] path, path [Header: value]... status</c>. The verb defaults to the cell's, the paths to those of the previous request.
/// <c>207/403</c> is a 207 with a property of status 403. <c>{...}</c> is a path of <see cref="StatusFixture"/>.
/// </summary>
internal static partial class StatusTable
{
    private const string Cells =
        """
        root      | GET       | /, /README, /.health 200; [Range: bytes=0-0] 206; [If-None-Match: *] 304; [Range: bytes=99999-] 416
        root      | HEAD      | /, /README, /.health 200; [Range: bytes=0-0] 200; [If-None-Match: *] 304; [Range: bytes=99999-] 200
        root      | PROPFIND  | /, /README, /.health [Depth: 0] 207
        root      | PUT       | /, /README, /.health 403
        root      | DELETE    | /, /README, /.health 403
        root      | MKCOL     | /, /README, /.health 405
        root      | COPY      | /, /README, /.health [Destination: /nzbs/tv/x.nzb] 403
        root      | MOVE      | /, /README, /.health [Destination: /nzbs/tv/x.nzb] 403
        root      | PROPPATCH | /, /README, /.health 207/403
        root      | LOCK      | /, /README, /.health 405
        root      | UNLOCK    | /, /README, /.health [Lock-Token: <urn:uuid:none>] 405
        queue     | GET       | /nzbs, /nzbs/, /nzbs/tv, /nzbs/tv/ 405
        queue     | HEAD      | /nzbs, /nzbs/, /nzbs/tv, /nzbs/tv/ 405
        queue     | PROPFIND  | /nzbs, /nzbs/, /nzbs/tv, /nzbs/tv/ [Depth: 1] 207
        queue     | PUT       | /nzbs, /nzbs/, /nzbs/tv, /nzbs/tv/ 405
        queue     | DELETE    | /nzbs, /nzbs/, /nzbs/tv, /nzbs/tv/ 403
        queue     | MKCOL     | /nzbs, /nzbs/, /nzbs/tv, /nzbs/tv/ 405
        queue     | COPY      | /nzbs, /nzbs/, /nzbs/tv, /nzbs/tv/ [Destination: /nzbs/movies/x.nzb] 403
        queue     | MOVE      | /nzbs, /nzbs/, /nzbs/tv, /nzbs/tv/ [Destination: /nzbs/movies/x.nzb] 403
        queue     | PROPPATCH | /nzbs, /nzbs/, /nzbs/tv, /nzbs/tv/ 207/403
        queue     | LOCK      | /nzbs, /nzbs/ 405; /nzbs/tv [Depth: 0] 200; UNLOCK [Lock-Token: {token}] 204
        queue     | UNLOCK    | /nzbs, /nzbs/ [Lock-Token: <urn:uuid:none>] 405; /nzbs/tv [Lock-Token: <urn:uuid:none>] 409; LOCK [Depth: 0] 200; [Lock-Token: {token}] 204
        item      | GET       | PUT /nzbs/tv/get.nzb 201; 200; [Range: bytes=0-0] 206; [If-None-Match: *] 304; [Range: bytes=99999-] 416
        item      | HEAD      | PUT /nzbs/tv/head.nzb 201; 200; [Range: bytes=0-0] 200; [If-None-Match: *] 304; [Range: bytes=99999-] 200
        item      | PROPFIND  | PUT /nzbs/tv/find.nzb 201; [Depth: 0] 207
        item      | PUT       | /nzbs/tv/put.nzb 201; 204
        item      | DELETE    | PUT /nzbs/tv/delete.nzb 201; 204; 404
        item      | MKCOL     | PUT /nzbs/tv/make.nzb 201; 405; /nzbs/tv/free.nzb 403
        item      | COPY      | PUT /nzbs/tv/copy.nzb 201; [Destination: /nzbs/movies/copy.nzb] 403
        item      | MOVE      | PUT /nzbs/tv/move.nzb 201; [Destination: /nzbs/movies/to.nzb] 201; PUT 201; [Destination: /nzbs/movies/to.nzb] 204
        item      | PROPPATCH | PUT /nzbs/tv/patch.nzb 201; 207/200
        item      | LOCK      | PUT /nzbs/tv/lock.nzb 201; [Depth: 0] 200; UNLOCK [Lock-Token: {token}] 204; /nzbs/tv/new.nzb 201; UNLOCK [Lock-Token: {token}] 204
        item      | UNLOCK    | PUT /nzbs/tv/unlock.nzb 201; [Lock-Token: <urn:uuid:none>] 409; LOCK 200; [Lock-Token: {token}] 204
        content   | GET       | /content, /content/tv, /content/tv/Rel, /content/tv/Rel/season%201/ 405; {clip} 200; [Range: bytes=0-0] 206; [If-None-Match: *] 304; [Range: bytes=99999999-] 416; {lost} 410; {offline} 503
        content   | HEAD      | /content, /content/tv, /content/tv/Rel, /content/tv/Rel/season%201/ 405; {clip} 200; [Range: bytes=0-0] 200; [If-None-Match: *] 304; [Range: bytes=99999999-] 200; {lost}, {offline} 200
        content   | PROPFIND  | /content, /content/tv, /content/tv/Rel, /content/tv/Rel/season%201/, {clip}, {lost}, {offline} 207
        content   | PUT       | /content, /content/tv, /content/tv/Rel, /content/tv/Rel/season%201/, {clip}, {lost}, /content/tv/new.mkv 403
        content   | DELETE    | /content, /content/tv, /content/tv/Rel, /content/tv/Rel/season%201/, {clip}, {lost} 403
        content   | MKCOL     | /content, /content/tv, /content/tv/Rel, /content/tv/Rel/season%201/, {clip}, {lost} 405; /content/tv/new, /content/tv/Rel/new 403
        content   | COPY      | /content, /content/tv, /content/tv/Rel, /content/tv/Rel/season%201/, {clip}, {lost} [Destination: /nzbs/tv/x.nzb] 403
        content   | MOVE      | /content, /content/tv, /content/tv/Rel, /content/tv/Rel/season%201/, {clip}, {lost} [Destination: /nzbs/tv/x.nzb] 403
        content   | PROPPATCH | /content, /content/tv, /content/tv/Rel, /content/tv/Rel/season%201/, {clip}, {lost} 207/403
        content   | LOCK      | /content, /content/tv, /content/tv/Rel, /content/tv/Rel/season%201/, {clip}, /content/tv/new.mkv 405
        content   | UNLOCK    | /content, /content/tv, /content/tv/Rel, /content/tv/Rel/season%201/, {clip} [Lock-Token: <urn:uuid:none>] 405
        links     | GET       | {links}, {links}/.probe, {links}/tv, {links}/tv/Rel, {links}/tv/Rel/season%201/ 405; {links}/.probe/probe.mkv.rclonelink, {links}/tv/Rel/a.mkv.rclonelink 200; [Range: bytes=0-0] 206; [If-None-Match: *] 304; [Range: bytes=99999-] 416
        links     | HEAD      | {links}, {links}/tv, {links}/tv/Rel, {links}/tv/Rel/season%201/ 405; {links}/tv/Rel/a.mkv.rclonelink 200; [Range: bytes=0-0] 200; [If-None-Match: *] 304; [Range: bytes=99999-] 200
        links     | PROPFIND  | {links}, {links}/.probe, {links}/.probe/probe.mkv.rclonelink, {links}/tv, {links}/tv/Rel, {links}/tv/Rel/season%201/, {links}/tv/Rel/a.mkv.rclonelink 207
        links     | PUT       | {links}, {links}/tv, {links}/tv/Rel, {links}/tv/Rel/season%201/, {links}/tv/Rel/a.mkv.rclonelink, {links}/tv/Rel/new 403
        links     | DELETE    | {links}, {links}/.probe, {links}/.probe/probe.mkv.rclonelink, {links}/tv 403; {links}/tv/Moved/a.mkv.rclonelink 204; {links}/tv/Moved 204; 404; {links}/tv/Rel/none 404
        links     | MKCOL     | {links}, {links}/tv, {links}/tv/Rel, {links}/tv/Rel/season%201/, {links}/tv/Rel/a.mkv.rclonelink 405; {links}/tv/new 403
        links     | COPY      | {links}, {links}/tv, {links}/tv/Rel, {links}/tv/Rel/a.mkv.rclonelink [Destination: /nzbs/tv/x.nzb] 403
        links     | MOVE      | {links}, {links}/tv, {links}/tv/Rel, {links}/tv/Rel/a.mkv.rclonelink [Destination: /nzbs/tv/x.nzb] 403
        links     | PROPPATCH | {links}, {links}/tv, {links}/tv/Rel, {links}/tv/Rel/a.mkv.rclonelink 207/403
        links     | LOCK      | {links}, {links}/tv, {links}/tv/Rel, {links}/tv/Rel/a.mkv.rclonelink 405
        links     | UNLOCK    | {links}, {links}/tv, {links}/tv/Rel, {links}/tv/Rel/a.mkv.rclonelink [Lock-Token: <urn:uuid:none>] 405
        ids       | GET       | /.ids, /.ids/0, /.ids/0/1/2/3/f/ 405; {clip-id} 200; [Range: bytes=0-0] 206; [If-None-Match: *] 304; [Range: bytes=99999999-] 416; {lost-id} 410; {offline-id} 503
        ids       | HEAD      | /.ids, /.ids/0, /.ids/0/1/2/3/f/ 405; {clip-id} 200; [Range: bytes=0-0] 200; [If-None-Match: *] 304; [Range: bytes=99999999-] 200; {lost-id}, {offline-id} 200
        ids       | PROPFIND  | /.ids, /.ids/0, /.ids/0/1/2/3/f/, {clip-id}, {lost-id}, {offline-id} 207
        ids       | PUT       | /.ids, /.ids/0, /.ids/0/1/2/3/f/, {clip-id}, {lost-id}, /.ids/0/new 403
        ids       | DELETE    | /.ids, /.ids/0, /.ids/0/1/2/3/f/, {clip-id}, {lost-id} 403
        ids       | MKCOL     | /.ids, /.ids/0, /.ids/0/1/2/3/f/, {clip-id}, {lost-id} 405; /.ids/0/new 403
        ids       | COPY      | /.ids, /.ids/0, /.ids/0/1/2/3/f/, {clip-id}, {lost-id} [Destination: /nzbs/tv/x.nzb] 403
        ids       | MOVE      | /.ids, /.ids/0, /.ids/0/1/2/3/f/, {clip-id}, {lost-id} [Destination: /nzbs/tv/x.nzb] 403
        ids       | PROPPATCH | /.ids, /.ids/0, /.ids/0/1/2/3/f/, {clip-id}, {lost-id} 207/403
        ids       | LOCK      | /.ids, /.ids/0, /.ids/0/1/2/3/f/, {clip-id}, {lost-id} 405
        ids       | UNLOCK    | /.ids, /.ids/0, /.ids/0/1/2/3/f/, {clip-id} [Lock-Token: <urn:uuid:none>] 405
        """;

    /// <summary>Rules of section 3 outside its table: verbs without a column, unknown paths, and paths outside the tree.</summary>
    private const string Beside =
        """
        any       | BREW      | /, /README, /nzbs, /nzbs/tv, /nzbs/tv/none.nzb, /content, /content/tv/Rel, {clip}, {links}/tv/Rel, /.ids, {clip-id}, /none 405
        any       | OPTIONS   | /, /README, /nzbs, /nzbs/tv, /nzbs/tv/none.nzb, /content, /content/tv/Rel, {clip}, {links}/tv/Rel, /.ids, {clip-id}, /none, * 200
        unknown   | GET       | {none}, /nzbs/none, /nzbs/tv/none.nzb 404
        unknown   | HEAD      | {none}, /nzbs/none, /nzbs/tv/none.nzb 404
        unknown   | PROPFIND  | {none}, /nzbs/none, /nzbs/tv/none.nzb 404
        unknown   | PUT       | {none} 403; /nzbs/none 405; /nzbs/none/x.nzb 409
        unknown   | DELETE    | {none}, /nzbs/none, /nzbs/tv/none.nzb 404
        unknown   | MKCOL     | /none, /content/tv/none, /.ids/x, {links}/tv/none, /nzbs/none, /nzbs/tv/none.mkv 403; /none/x, /content/none/x, {links}/none/x, /nzbs/none/x.nzb 409
        unknown   | COPY      | {none}, /nzbs/none, /nzbs/tv/none.nzb [Destination: /nzbs/tv/x.nzb] 404
        unknown   | MOVE      | {none}, /nzbs/none, /nzbs/tv/none.nzb [Destination: /nzbs/tv/x.nzb] 404
        unknown   | PROPPATCH | {none}, /nzbs/none, /nzbs/tv/none.nzb 404
        unknown   | LOCK      | {none} 405; /nzbs/none 403; /nzbs/none/x.nzb 409; /nzbs/tv/none.mkv 403
        unknown   | UNLOCK    | {none} [Lock-Token: <urn:uuid:none>] 405; /nzbs/none, /nzbs/none/x.nzb, /nzbs/tv/none.nzb [Lock-Token: <urn:uuid:none>] 409
        others    | GET       | /settings, /config/x, /queue/x, /assets/x, /view, /view/README 404; /api/none 401
        others    | HEAD      | /settings, /queue/x, /assets/x, /view, /view/README 404; /api/none 401
        others    | PROPFIND  | /settings, /queue/x, /api, /view, /view/content, /healthz 404; /api/none 401
        others    | PUT       | /settings, /queue/x, /api, /view, /view/content, /healthz 404; /api/none 401
        others    | DELETE    | /settings, /queue/x, /api, /view, /view/content, /healthz 404; /api/none 401
        others    | MKCOL     | /settings, /queue/x, /api, /view, /view/content, /healthz 404; /api/none 401
        others    | COPY      | /settings, /queue/x, /api, /view, /view/content, /healthz [Destination: /nzbs/tv/x.nzb] 404; /api/none [Destination: /nzbs/tv/x.nzb] 401
        others    | MOVE      | /settings, /queue/x, /api, /view, /view/content, /healthz [Destination: /nzbs/tv/x.nzb] 404; /api/none [Destination: /nzbs/tv/x.nzb] 401
        others    | PROPPATCH | /settings, /queue/x, /api, /view, /view/content, /healthz 404; /api/none 401
        others    | LOCK      | /settings, /queue/x, /api, /view, /view/content, /healthz 404; /api/none 401
        others    | UNLOCK    | /settings, /queue/x, /api, /view, /view/content, /healthz [Lock-Token: <urn:uuid:none>] 404; /api/none [Lock-Token: <urn:uuid:none>] 401
        """;

    private static readonly Dictionary<string, string> Names = new()
    {
        ["{links}"] = "/completed-symlinks",
        ["{none}"] = "/none, /content/none, /content/tv/none, /content/tv/Rel/none.mkv, {clip}/, /completed-symlinks/none/x, /.ids/x, /.ids/0/none",
    };

    /// <summary>The cells of the table of section 3.</summary>
    public static IReadOnlyList<StatusCell> Section3 { get; } = Read(Cells);

    /// <summary>The requests outside the table.</summary>
    public static IReadOnlyList<StatusCell> BesideIt { get; } = Read(Beside);

    private static List<StatusCell> Read(string text) => [.. text.Split('\n').Select(ReadCell)];

    private static StatusCell ReadCell(string line)
    {
        foreach ((var name, var meaning) in Names)
            line = line.Replace(name, meaning, StringComparison.Ordinal);
        var columns = line.Split('|', StringSplitOptions.TrimEntries);
        var requests = new List<StatusRequest>();
        string[] paths = [];
        foreach (var text in columns[2].Split(';'))
        {
            var step = Step().Match(text);
            if (!step.Success)
                throw new FormatException($"No request: {text}");
            if (step.Groups["paths"].Length > 0)
                paths = step.Groups["paths"].Value.Split(',', StringSplitOptions.TrimEntries);
            var verb = step.Groups["verb"].Success ? step.Groups["verb"].Value : columns[1];
            string[] headers = [.. step.Groups["header"].Captures.Select(header => header.Value)];
            requests.AddRange(paths.Select(path => new StatusRequest(verb, path, headers, step.Groups["status"].Value)));
        }

        return new StatusCell(columns[0], columns[1], requests);
    }

    [GeneratedRegex(@"^\s*((?<verb>[A-Z]+)\s+)?(?<paths>([/{*][^\[ ]*( (?=[/{*]))?)*)\s*(\[(?<header>[^\]]*)\]\s*)*(?<status>\d{3}(/\d{3})?)\s*$")]
    private static partial Regex Step();
}

/// <summary>One cell: the requests that show the responses of a kind of path to a verb.</summary>
internal sealed record StatusCell(string Path, string Verb, IReadOnlyList<StatusRequest> Requests);

/// <summary>One request with its status; the status of its property follows after a slash.</summary>
internal sealed record StatusRequest(string Verb, string Path, string[] Headers, string Status);
