using System.Text.Json.Nodes;
using Microsoft.Extensions.Options;
using Sluice.Server.Auth;
using Sluice.Server.Settings;

namespace Sluice.Server.Arr;

/// <summary>
/// Whether a program can import completed releases. <c>OurPath</c> is their folder in Sluice; <c>TheirPath</c> is the same folder after the program's mappings.
/// <c>VolumeLine</c> is the missing container volume; null if a volume is not the solution.
/// </summary>
internal sealed record PathFinding(string OurPath, string TheirPath, bool Sees, string Sentence, string? VolumeLine = null);

/// <summary>
/// Checks through a program's API whether it can import completed releases. For links, it looks for the probe link (DAV-18) and its target, because an old
/// rclone shows all folders but no links. Thread-safe.
/// </summary>
internal sealed class PathDoctor(
    ArrClient client, ArrConnector connector, RcloneClients clients, IOptionsMonitor<RcloneOptions> rclone, IOptionsMonitor<ImportOptions> import)
{
    /// <summary>Path of the probe link inside the mount. A program sees the link only if rclone runs with <c>--links</c>.</summary>
    internal const string ProbePath = LinkFolder + "/.probe/probe.mkv";

    internal const string ProbeTarget = "README";

    /// <summary>Suffix of a link that rclone shows as a text file.</summary>
    internal const string LinkText = ".rclonelink";

    private const string LinkFolder = "completed-symlinks";
    private const string ContentFolder = "content";

    // Limits the search, because each folder outside the usual mount points costs a call.
    private const int MaxCandidates = 40;

    // Usual mount points in containers.
    private static readonly string[] UsualPlaces = ["/", "/mnt", "/media", "/data"];

    /// <summary>Checks whether the program can import from our folder, taking its own folders and mappings into account.</summary>
    /// <exception cref="ArrException">The program cannot be reached.</exception>
    public async Task<PathFinding> CheckAsync(ArrServer server, CancellationToken cancellationToken)
    {
        var host = await connector.FindHostAsync(server, cancellationToken);
        var mount = import.CurrentValue.PublishesStrm ? null : rclone.CurrentValue.MountDir.TrimEnd('/');
        var ours = mount is null ? import.CurrentValue.CompletedFolder : $"{mount}/{LinkFolder}";
        var theirs = await MappedAsync(server, host, ours, cancellationToken);
        return mount is null
            ? await CheckFolderAsync(server, ours, theirs, cancellationToken)
            : await CheckLinksAsync(server, mount, theirs, cancellationToken);
    }

    /// <summary>Checks a folder with <c>.strm</c> files, which need no links.</summary>
    private async Task<PathFinding> CheckFolderAsync(ArrServer server, string ours, string theirs, CancellationToken cancellationToken)
    {
        if ((await ListAsync(server, Parent(theirs), includeFiles: false, cancellationToken)).Folders.Contains(Name(theirs)))
            return new PathFinding(ours, theirs, true, $"{server.Name} sees {theirs}.");
        return theirs == ours
            ? new PathFinding(ours, theirs, false, $"{server.Name} can't see {ours} yet. Add this volume to its container and restart it.", $"- {ours}:{ours}")
            : new PathFinding(
                ours, theirs, false, $"A remote path mapping of {server.Name} leads to {theirs}, which is not there. Correct or remove the mapping.");
    }

    private async Task<PathFinding> CheckLinksAsync(ArrServer server, string mount, string theirs, CancellationToken cancellationToken)
    {
        var ours = $"{mount}/{LinkFolder}";
        var probe = Name(ProbePath);
        var links = await ListAsync(server, Parent(theirs + ProbePath[LinkFolder.Length..]), includeFiles: true, cancellationToken);
        var root = await ListAsync(server, mount, includeFiles: true, cancellationToken);
        var seesMount = root.Files.Contains(ProbeTarget);
        if (links.Files.Contains(probe) && seesMount)
            return new PathFinding(ours, theirs, true, $"{server.Name} sees the links in {theirs}, and the files behind them.");

        PathFinding Fault(string sentence, bool needsVolume = false) =>
            new(ours, theirs, false, sentence, needsVolume ? $"- {mount}:{mount}:rslave" : null);
        if (links.Files.Contains(probe + LinkText))
            return Fault($"{server.Name} sees files that end in {LinkText} instead of links, {DescribeRclone()}");
        if (theirs != ours && links.Files.Contains(probe))
        {
            return Fault(
                $"{server.Name} sees the links in {theirs}, but not {mount}, where they lead. Add this volume to its container and remove the mapping.",
                needsVolume: true);
        }

        // Blame a mapping only if the mount is visible, because a mapping into a missing mount shows no links either.
        if (seesMount && theirs != ours)
            return Fault($"A remote path mapping of {server.Name} leads to {theirs}, which has no links. Remove the mapping.");
        if (seesMount)
        {
            return Fault(root.Folders.Contains(LinkFolder)
                ? $"{server.Name} sees {mount}, but the probe link is missing in {theirs}. Start the mount again, because it shows an old listing or another server."
                : $"{server.Name} sees {mount}, but {LinkFolder} is missing in it. Mount the whole of Sluice there.");
        }

        if (await FindTreeAsync(server, mount, cancellationToken) is { } found)
        {
            return Fault(
                $"{server.Name} has the mount at {found}, but the links lead to {mount}. Replace its volume with this one and restart the container.",
                needsVolume: true);
        }

        return Fault(
            (await ListAsync(server, Parent(mount), includeFiles: false, cancellationToken)).Folders.Contains(Name(mount))
                ? $"{server.Name} has the folder {mount}, but not the mount in it. Mount with --allow-other, add this volume to its container and restart it."
                : $"{server.Name} can't see {mount} yet. Add this volume to its container and restart it.",
            needsVolume: true);
    }

    /// <summary>Explains why rclone shows no links, as far as its requests reveal the reason.</summary>
    private string DescribeRclone()
    {
        var versions = clients.Snapshot();
        if (versions.Count > 0 && versions.All(version => version >= RcloneClients.FirstWithLinks))
            return "because rclone runs without --links. Add --links to the command that mounts, and start it again.";
        // If several versions are connected, name none, because any of them may serve this program.
        return versions is [var only] && only > RcloneClients.Unstated
            ? $"because rclone {only} is too old. Install rclone {RcloneClients.FirstWithLinks} or newer from rclone.org, and mount with --links."
            : $"because rclone is older than {RcloneClients.FirstWithLinks}, like the packages of Debian and Ubuntu, or runs without --links. "
                + "Install a newer one from rclone.org, and mount with --links.";
    }

    /// <summary>Applies the program's path mappings for this server.</summary>
    private async Task<string> MappedAsync(ArrServer server, string? host, string path, CancellationToken cancellationToken)
    {
        if (host is null || await client.GetAsync(server, "remotepathmapping", cancellationToken) is not JsonArray mappings)
            return path;
        foreach (var mapping in mappings.OfType<JsonObject>().Where(mapping => ArrJson.Text(mapping["host"]).Equals(host, StringComparison.OrdinalIgnoreCase)))
        {
            var remote = ArrJson.Text(mapping["remotePath"]).TrimEnd('/');
            if (remote.Length > 0 && (path + "/").StartsWith(remote + "/", StringComparison.Ordinal))
                return ArrJson.Text(mapping["localPath"]).TrimEnd('/') + path[remote.Length..];
        }

        return path;
    }

    /// <summary>Looks for the tree in other folders; null if it is in no usual mount point.</summary>
    private async Task<string?> FindTreeAsync(ArrServer server, string mount, CancellationToken cancellationToken)
    {
        var asked = 0;
        foreach (var place in UsualPlaces)
        {
            foreach (var folder in (await ListAsync(server, place, includeFiles: false, cancellationToken)).Folders)
            {
                var candidate = $"{place.TrimEnd('/')}/{folder}";
                if (candidate == mount || asked++ == MaxCandidates)
                    continue;
                if (asked > MaxCandidates)
                    return null;
                var inside = await ListAsync(server, candidate, includeFiles: false, cancellationToken);
                if (inside.Folders.Contains(LinkFolder) && inside.Folders.Contains(ContentFolder))
                    return candidate;
            }
        }

        return null;
    }

    /// <summary>Lists a folder through the program; empty if it does not exist.</summary>
    private async Task<(HashSet<string> Folders, HashSet<string> Files)> ListAsync(
        ArrServer server, string path, bool includeFiles, CancellationToken cancellationToken)
    {
        // End with a slash, because otherwise the program would list the nearest existing folder.
        var query = Uri.EscapeDataString(path.TrimEnd('/') + "/");
        var listing = await client.GetAsync(server, $"filesystem?path={query}&includeFiles={(includeFiles ? "true" : "false")}", cancellationToken) as JsonObject;
        return (Names("directories"), Names("files"));

        HashSet<string> Names(string kind) => [.. (listing?[kind] as JsonArray ?? []).OfType<JsonObject>().Select(item => ArrJson.Text(item["name"]))];
    }

    private static string Parent(string path) => path.LastIndexOf('/') is > 0 and var end ? path[..end] : "/";

    private static string Name(string path) => path[(path.LastIndexOf('/') + 1)..];
}
