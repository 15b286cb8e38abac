namespace Sluice.Server.Auth;

/// <summary>
/// Versions of rclone that read the tree within the last hour, as their User-Agent states them. Older ones show text files in place of links, so Sonarr
/// and Radarr import nothing.
/// </summary>
/// <remarks>Thread-safe. Addresses are ignored, because containers behind one gateway share one, and an updated container may get another.</remarks>
internal sealed class RcloneClients(TimeProvider time)
{
    public static readonly Version FirstWithLinks = new(1, 70, 3);

    /// <summary>Stands for a version that is not stated. The packages of Debian and Ubuntu send the name alone, and they are too old.</summary>
    public static readonly Version Unstated = new(0, 0);

    private const string AgentStart = "rclone/";
    private const int MaxVersions = 100;

    private static readonly TimeSpan Window = TimeSpan.FromHours(1);

    private readonly Lock _gate = new();
    private readonly Dictionary<Version, long> _seen = [];

    /// <summary>Notes a request with a correct login.</summary>
    public void Note(HttpContext http)
    {
        if (ReadAgent(http.Request.Headers.UserAgent.ToString()) is not { } version)
            return;
        lock (_gate)
        {
            if (_seen.Count >= MaxVersions && !_seen.ContainsKey(version))
                _seen.Remove(_seen.MinBy(seen => seen.Value).Key);
            _seen[version] = time.GetTimestamp();
        }
    }

    /// <summary>Returns these versions, most recently seen first. One may be <see cref="Unstated"/>.</summary>
    public IReadOnlyList<Version> Snapshot()
    {
        lock (_gate)
            return [.. _seen.Where(seen => time.GetElapsedTime(seen.Value) < Window).OrderByDescending(seen => seen.Value).Select(seen => seen.Key)];
    }

    /// <summary>Reads the version from a User-Agent such as <c>rclone/v1.60.1</c>; null if it is another program.</summary>
    internal static Version? ReadAgent(string agent)
    {
        if (!agent.StartsWith(AgentStart, StringComparison.Ordinal))
            return null;
        var text = agent.AsSpan(AgentStart.Length).TrimStart('v');
        // Builds between two releases end in -DEV or -beta.
        var end = text.IndexOf('-');
        return Version.TryParse(end < 0 ? text : text[..end], out var version) ? version : Unstated;
    }
}
