using System.Text.Json.Nodes;
using Microsoft.Extensions.Options;
using Sluice.Server.Settings;

namespace Sluice.Server.Arr;

/// <summary>A remote path mapping that lets a program find the paths that Sluice names.</summary>
internal sealed record ArrMapping(string Host, string RemotePath, string LocalPath);

/// <summary>
/// Whether a program sees the folder of finished releases: <c>OurPath</c> as Sluice names it, <c>TheirPath</c> after the program's mappings.
/// <c>VolumeLine</c> and <c>Mapping</c> are the missing volume or mapping; null if that is not the cure.
/// </summary>
internal sealed record PathFinding(string OurPath, string TheirPath, bool Sees, string Sentence, string? VolumeLine, ArrMapping? Mapping);

/// <summary>Checks through a program whether it sees the folder of finished releases.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class PathDoctor(ArrClient client, ArrConnector connector, IOptionsMonitor<RcloneOptions> rclone, IOptionsMonitor<ImportOptions> import)
{
    private const string LinkFolder = "completed-symlinks";
    private const string ContentFolder = "content";

    // A limit, because each folder below the usual places costs one call.
    private const int MaxCandidates = 40;

    // Usual places of volumes in containers.
    private static readonly string[] UsualPlaces = ["/", "/mnt", "/media", "/data"];

    /// <summary>Reads the program's folders and mappings.</summary>
    /// <exception cref="ArrException">It cannot be called.</exception>
    public async Task<PathFinding> CheckAsync(ArrServer server, CancellationToken cancellationToken)
    {
        var host = await connector.FindHostAsync(server, cancellationToken);
        var mount = import.CurrentValue.PublishesStrm ? null : rclone.CurrentValue.MountDir;
        var ours = mount is null ? import.CurrentValue.CompletedFolder : $"{mount.TrimEnd('/')}/{LinkFolder}";
        var theirs = await MappedAsync(server, host, ours, cancellationToken);
        if ((await FoldersAsync(server, Parent(theirs), cancellationToken)).Contains(Name(theirs)))
            return new PathFinding(ours, theirs, true, $"{server.Name} sees {theirs}.", null, null);
        if (theirs != ours)
        {
            return new PathFinding(
                ours, theirs, false, $"A remote path mapping of {server.Name} leads to {theirs}, which is not there. Correct or remove the mapping.", null, null);
        }

        if (mount is null)
        {
            return new PathFinding(
                ours, theirs, false, $"{server.Name} does not see {ours}. Give its container this volume, and start it again.", $"- {ours}:{ours}", null);
        }

        var volume = $"- {mount}:{mount}:rslave";
        if (await FindTreeAsync(server, mount, cancellationToken) is { } found && host is not null)
        {
            return new PathFinding(
                ours,
                theirs,
                false,
                $"{server.Name} has the mount at {found}. Add this remote path mapping there, or give its container the mount at {mount}.",
                volume,
                new ArrMapping(host, ours + "/", $"{found}/{LinkFolder}/"));
        }

        var exists = (await FoldersAsync(server, Parent(mount), cancellationToken)).Contains(Name(mount));
        return new PathFinding(
            ours,
            theirs,
            false,
            exists
                ? $"{server.Name} has the folder {mount}, but not the mount in it. See that the mount runs and that the container has this volume, and start it again."
                : $"{server.Name} does not see {mount}. Give its container this volume, and start it again.",
            volume,
            null);
    }

    /// <summary>Applies the program's mappings for this server to a path.</summary>
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

    /// <summary>Finds another folder that holds the tree; null if none of the usual places has it.</summary>
    private async Task<string?> FindTreeAsync(ArrServer server, string mount, CancellationToken cancellationToken)
    {
        var asked = 0;
        foreach (var place in UsualPlaces)
        {
            foreach (var folder in await FoldersAsync(server, place, cancellationToken))
            {
                var candidate = $"{place.TrimEnd('/')}/{folder}";
                if (candidate == mount || asked++ == MaxCandidates)
                    continue;
                if (asked > MaxCandidates)
                    return null;
                var inside = await FoldersAsync(server, candidate, cancellationToken);
                if (inside.Contains(LinkFolder) && inside.Contains(ContentFolder))
                    return candidate;
            }
        }

        return null;
    }

    /// <summary>Lists the folders in a folder of the program; empty if it does not exist.</summary>
    private async Task<HashSet<string>> FoldersAsync(ArrServer server, string path, CancellationToken cancellationToken)
    {
        // Without the trailing slash the program would list the nearest existing folder instead.
        var query = Uri.EscapeDataString(path.TrimEnd('/') + "/");
        var listing = await client.GetAsync(server, $"filesystem?path={query}&includeFiles=false", cancellationToken) as JsonObject;
        return [.. (listing?["directories"] as JsonArray ?? []).OfType<JsonObject>().Select(folder => ArrJson.Text(folder["name"]))];
    }

    private static string Parent(string path) => path.LastIndexOf('/') is > 0 and var end ? path[..end] : "/";

    private static string Name(string path) => path[(path.LastIndexOf('/') + 1)..];
}
