using System.Collections.Concurrent;
using System.Security.Cryptography;
using System.Text;
using Dapper;
using Sluice.Server.Database;
using Sluice.Server.Listening;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Auth;

/// <summary>
/// Remembers past logins across restarts: browsers by a random cookie, WebDAV clients by address prefix. They get no access, only priority in the queue. No
/// password hash is stored, because a fast hash on disk would undermine the slow one.
/// </summary>
/// <remarks>Thread-safe. Everything is cached in memory, so that a request costs no query.</remarks>
internal sealed class KnownSenders(SluiceDatabase database, TimeProvider time)
{
    /// <summary>How long a browser is remembered after its last login; longer than the maximum session.</summary>
    public static readonly TimeSpan BrowserLifetime = TimeSpan.FromDays(365);

    // Per kind. A household has dozens of senders, a large host thousands. If they displaced each other, every request would write a row.
    private const int MaxKnown = 4096;
    private const string Browser = "browser";
    private const string WebDav = "webdav";

    // Short, because internet providers assign new addresses.
    private static readonly TimeSpan AddressLifetime = TimeSpan.FromDays(30);
    private static readonly TimeSpan NoteInterval = TimeSpan.FromDays(1);

    private readonly ConcurrentDictionary<Sender, DateTimeOffset> _used = new();

    public async Task LoadAsync(CancellationToken cancellationToken)
    {
        var rows = await database.ReadAsync<IReadOnlyList<SenderRow>>(
            connection => [.. connection.Query<SenderRow>("SELECT kind AS Kind, mark AS Mark, used_at AS UsedAt FROM known_sender")], cancellationToken);
        foreach (var row in rows)
        {
            if (row.Kind == Browser)
                _used[new Sender(default, row.Mark)] = StoredTime.Read(row.UsedAt);
            else if (AddressPrefix.Parse(row.Mark) is { } prefix)
                _used[new Sender(prefix)] = StoredTime.Read(row.UsedAt);
        }
    }

    public bool IsKnown(Sender sender) => _used.TryGetValue(sender, out var used) && time.WallTime() - used < LifetimeOf(sender);

    /// <summary>Records a login at most once a day. If the write fails, the sender is remembered only until the next startup.</summary>
    public ValueTask NoteAsync(Sender sender) =>
        _used.TryGetValue(sender, out var used) && (time.WallTime() - used).Duration() < NoteInterval ? ValueTask.CompletedTask : new ValueTask(StoreAsync(sender));

    /// <summary>The hash under which a browser's cookie is stored.</summary>
    public static string HashOf(string cookie) => Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(cookie)));

    private static TimeSpan LifetimeOf(Sender sender) => sender.Browser is null ? AddressLifetime : BrowserLifetime;

    private static SenderRow Row(Sender sender, DateTimeOffset used) =>
        new(sender.Browser is null ? WebDav : Browser, sender.Browser ?? sender.Address.ToString(), used.ToUnixTimeMilliseconds());

    private async Task StoreAsync(Sender sender)
    {
        var row = Row(sender, _used[sender] = time.WallTime());
        var dropped = _used.Where(other => (other.Key.Browser is null) == (sender.Browser is null))
            .OrderByDescending(other => other.Value)
            .Where((other, i) => i >= MaxKnown || !IsKnown(other.Key))
            .Select(other => other.Key)
            .ToList();
        foreach (var old in dropped)
            _used.TryRemove(old, out _);
        var marks = SqlDialect.List([.. dropped.Select(old => Row(old, default).Mark)]);
        try
        {
            // Finish the write even if the request ends, because the login was valid.
            await database.WriteAsync(
                connection =>
                {
                    connection.Execute($"DELETE FROM known_sender WHERE kind = @kind AND {SqlDialect.In("mark", "@list")}", new { kind = row.Kind, list = marks });
                    return connection.Execute(
                        "INSERT INTO known_sender (kind, mark, used_at) VALUES (@Kind, @Mark, @UsedAt) ON CONFLICT (kind, mark) DO UPDATE SET used_at = excluded.used_at", row);
                },
                CancellationToken.None);
        }
        catch (Exception e) when (e is StorageException or DatabaseLostException)
        {
            // The storage error is already logged. Let the login succeed, because only its priority in the queue is lost.
        }
    }

    internal sealed record SenderRow(string Kind, string Mark, long UsedAt);
}

/// <summary>
/// A device cookie (OWASP) that marks a browser after its login. It grants no access, only a separate failure budget and priority in the queue, so that an
/// attacker elsewhere cannot lock the user out. Thread-safe.
/// </summary>
internal sealed class KnownBrowser(AdminStore store, KnownSenders known)
{
    private const int SecretBytes = 32;

    private string Cookie => $"sluice-device-{store.Instance}";

    /// <summary>Identifies the sender of a login: a known browser or, for others, the address.</summary>
    public Caller CallerOf(HttpContext http) =>
        Find(http) is { } cookie ? Caller.Of(http) with { Browser = KnownSenders.HashOf(cookie) } : Caller.Of(http);

    /// <summary>Remembers a browser after a login and sets its cookie.</summary>
    public async Task RememberAsync(HttpContext http, Func<TimeSpan, CookieOptions> options)
    {
        var cookie = Find(http) ?? Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(SecretBytes));
        await known.NoteAsync(new Sender(default, KnownSenders.HashOf(cookie)));
        http.Response.Cookies.Append(Cookie, cookie, options(KnownSenders.BrowserLifetime));
    }

    private string? Find(HttpContext http) =>
        http.Request.Cookies[Cookie] is { Length: > 0 } cookie && known.IsKnown(new Sender(default, KnownSenders.HashOf(cookie))) ? cookie : null;
}
