using Sluice.Server.Listening;

namespace Sluice.Server.Auth;

/// <summary>
/// Versions of rclone that read the tree within the last hour, as their User-Agent states them. Older ones show text files in place of links, so Sonarr
/// and Radarr import nothing.
/// </summary>
/// <remarks>Thread-safe. Keeps the latest version of each address, because an update replaces the version before.</remarks>
internal sealed class RcloneClients(TimeProvider time)
{
    /// <summary>The first version that shows links.</summary>
    public static readonly Version FirstWithLinks = new(1, 70, 3);

    /// <summary>Stands for a version that is not stated. The packages of Debian and Ubuntu send the name alone, and they are too old.</summary>
    public static readonly Version Unstated = new(0, 0);

    private const string AgentStart = "rclone/";
    private const int MaxClients = 100;

    private static readonly TimeSpan Window = TimeSpan.FromHours(1);

    private readonly Lock _gate = new();
    private readonly Dictionary<AddressPrefix, (Version Version, long At)> _seen = [];

    /// <summary>Notes a request with a correct login.</summary>
    public void Note(HttpContext http)
    {
        if (ReadAgent(http.Request.Headers.UserAgent.ToString()) is not { } version)
            return;
        var client = Caller.Of(http).Client;
        lock (_gate)
        {
            if (_seen.Count >= MaxClients && !_seen.ContainsKey(client))
                _seen.Remove(_seen.MinBy(seen => seen.Value.At).Key);
            _seen[client] = (version, time.GetTimestamp());
        }
    }

    /// <summary>Finds the oldest of these versions, which may be <see cref="Unstated"/>; null if there is none.</summary>
    public Version? FindOldest()
    {
        lock (_gate)
            return _seen.Values.Where(seen => time.GetElapsedTime(seen.At) < Window).Min(seen => seen.Version);
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
