namespace Sluice.Server.Auth;

/// <summary>
/// Versions of rclone that accessed WebDAV within the last hour, from their User-Agent. Old versions show links as text files, which Sonarr and Radarr do not
/// import. Thread-safe. Keyed by version instead of address, because containers share a gateway and change addresses after updates.
/// </summary>
internal sealed class RcloneClients(TimeProvider time)
{
    public static readonly Version FirstWithLinks = new(1, 70, 3);

    /// <summary>Placeholder if no version is stated. Debian and Ubuntu packages send only the name, and their versions are too old.</summary>
    public static readonly Version Unstated = new(0, 0);

    private const string AgentStart = "rclone/";
    private const int MaxVersions = 100;

    private static readonly TimeSpan Window = TimeSpan.FromHours(1);

    private readonly Lock _gate = new();
    private readonly Dictionary<Version, long> _seen = [];

    /// <summary>Records an authenticated request.</summary>
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

    /// <summary>Returns the versions, most recently seen first. One may be <see cref="Unstated"/>.</summary>
    public IReadOnlyList<Version> Snapshot()
    {
        lock (_gate)
            return [.. _seen.Where(seen => time.GetElapsedTime(seen.Value) < Window).OrderByDescending(seen => seen.Value).Select(seen => seen.Key)];
    }

    /// <summary>Parses a User-Agent such as <c>rclone/v1.60.1</c>; null for any other program.</summary>
    internal static Version? ReadAgent(string agent)
    {
        if (!agent.StartsWith(AgentStart, StringComparison.Ordinal))
            return null;
        var text = agent.AsSpan(AgentStart.Length).TrimStart('v');
        // Development builds end in -DEV or -beta.
        var end = text.IndexOf('-');
        return Version.TryParse(end < 0 ? text : text[..end], out var version) ? version : Unstated;
    }
}
