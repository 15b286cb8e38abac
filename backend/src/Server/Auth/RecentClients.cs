using Sluice.Usenet.Primitives;

namespace Sluice.Server.Auth;

/// <summary>WebDAV clients of the last day. The settings page lists them, because a new WebDAV password locks these programs out.</summary>
/// <remarks>Thread-safe. Keeps the latest <see cref="MaxClients"/>.</remarks>
internal sealed class RecentClients(TimeProvider time)
{
    private const int MaxClients = 100;
    private const int MaxName = 80;

    private static readonly TimeSpan ListWindow = TimeSpan.FromDays(1);

    private readonly Lock _gate = new();
    private readonly Dictionary<string, DateTimeOffset> _seen = [];

    public void Note(HttpContext http)
    {
        var agent = http.Request.Headers.UserAgent.ToString();
        var name = new string([.. agent.Take(MaxName).Where(c => !char.IsControl(c))]);
        var client = $"{(name.Length > 0 ? name : "a client")} at {Caller.Of(http).Client}";
        var now = time.WallTime();
        lock (_gate)
        {
            if (_seen.Count >= MaxClients && !_seen.ContainsKey(client))
                _seen.Remove(_seen.MinBy(seen => seen.Value).Key);
            _seen[client] = now;
        }
    }

    /// <summary>Returns the clients of the last day, latest first.</summary>
    public IReadOnlyList<string> List()
    {
        var since = time.WallTime() - ListWindow;
        lock (_gate)
            return [.. _seen.Where(seen => seen.Value >= since).OrderByDescending(seen => seen.Value).Select(seen => seen.Key)];
    }

    /// <summary>Forgets all clients, because they used the old password.</summary>
    public void Clear()
    {
        lock (_gate)
            _seen.Clear();
    }
}
