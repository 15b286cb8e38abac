using Sluice.Usenet.Primitives;

namespace Sluice.Server.Auth;

/// <summary>A WebDAV client: the program and its version as in <c>rclone 1.66</c>, its address, and its last request.</summary>
internal sealed record RecentClient(string Name, string Address, DateTimeOffset LastAt);

/// <summary>
/// WebDAV clients of the last day. The setup shows when a mount first connects, and the settings page lists the programs that a new WebDAV password locks out.
/// Thread-safe. Keeps the latest <see cref="MaxClients"/>.
/// </summary>
internal sealed class RecentClients(TimeProvider time)
{
    private const int MaxClients = 100;
    private const int MaxAgent = 80;

    private static readonly TimeSpan ListWindow = TimeSpan.FromDays(1);

    private readonly Lock _gate = new();
    private readonly Dictionary<(string Agent, string Address, bool HasPassword), DateTimeOffset> _seen = [];

    /// <summary>Records a request that may read the tree, either with the password or from a network that needs none.</summary>
    public void Note(HttpContext http, bool hasPassword)
    {
        var agent = http.Request.Headers.UserAgent.ToString();
        var client = (new string([.. agent.Take(MaxAgent).Where(c => !char.IsControl(c))]), Caller.Of(http).Client.ToString(), hasPassword);
        var now = time.WallTime();
        lock (_gate)
        {
            if (_seen.Count >= MaxClients && !_seen.ContainsKey(client))
                _seen.Remove(_seen.MinBy(seen => seen.Value).Key);
            _seen[client] = now;
        }
    }

    /// <summary>Returns up to <paramref name="limit"/> clients of the last day, latest first.</summary>
    public IReadOnlyList<RecentClient> Snapshot(int limit) =>
        [.. Latest(_ => true).Take(limit).Select(seen => new RecentClient(ReadName(seen.Key.Agent), seen.Key.Address, seen.Value))];

    /// <summary>Returns the clients of the last day that used the password, latest first.</summary>
    public IReadOnlyList<string> ListPasswordUsers() =>
        [.. Latest(client => client.HasPassword).Select(seen => $"{(seen.Key.Agent.Length > 0 ? seen.Key.Agent : "a client")} at {seen.Key.Address}")];

    /// <summary>Forgets all clients, because they used the old password.</summary>
    public void Clear()
    {
        lock (_gate)
            _seen.Clear();
    }

    /// <summary>Returns the first product in a User-Agent: <c>rclone 1.66</c> for <c>rclone/v1.66.0</c>; <c>a client</c> if there is none.</summary>
    internal static string ReadName(string agent)
    {
        var product = agent.Trim();
        product = product.IndexOf(' ') is >= 0 and var end ? product[..end] : product;
        var slash = product.IndexOf('/');
        var name = slash < 0 ? product : product[..slash];
        if (name.Length == 0)
            return "a client";
        var version = slash < 0 ? "" : product[(slash + 1)..].TrimStart('v');
        if (version.EndsWith(".0", StringComparison.Ordinal) && version.Count(c => c == '.') > 1)
            version = version[..^2];
        return version.Length == 0 ? name : $"{name} {version}";
    }

    private List<KeyValuePair<(string Agent, string Address, bool HasPassword), DateTimeOffset>> Latest(
        Func<(string Agent, string Address, bool HasPassword), bool> isWanted)
    {
        var since = time.WallTime() - ListWindow;
        lock (_gate)
            return [.. _seen.Where(seen => seen.Value >= since && isWanted(seen.Key)).OrderByDescending(seen => seen.Value)];
    }
}
