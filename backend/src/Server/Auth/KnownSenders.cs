using System.Collections.Concurrent;
using System.Security.Cryptography;
using System.Text;
using Dapper;
using Sluice.Server.Database;
using Sluice.Server.Listening;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Auth;

/// <summary>
/// Senders that were right before: browsers by a random cookie, WebDAV clients by their address prefix, over restarts too. It opens nothing
/// to them; they wait in front of strangers. Nothing of a password is stored: a fast hash on disk would undo the slow one.
/// </summary>
/// <remarks>Thread-safe; everything is held in memory, so that a request costs no query.</remarks>
internal sealed class KnownSenders(SluiceDatabase database, TimeProvider time)
{
    /// <summary>How long a browser is known after its last login: longer than any session.</summary>
    public static readonly TimeSpan BrowserLifetime = TimeSpan.FromDays(365);

    // Of each kind. A household has some dozens and a host of hundreds some thousands: with fewer than there are, senders would displace
    // each other and write a row with each request.
    private const int MaxKnown = 4096;
    private const string Browser = "browser";
    private const string WebDav = "webdav";

    // Households change their address.
    private static readonly TimeSpan AddressLifetime = TimeSpan.FromDays(30);
    private static readonly TimeSpan Noted = TimeSpan.FromDays(1);

    private readonly ConcurrentDictionary<Sender, DateTimeOffset> _used = new();

    /// <summary>Reads everything.</summary>
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

    /// <summary>Whether a sender was right within its lifetime.</summary>
    public bool IsKnown(Sender sender) => _used.TryGetValue(sender, out var used) && time.WallTime() - used < LifetimeOf(sender);

    /// <summary>Notes that a sender was right, to the day. Where it cannot be stored, the sender is known until the next start.</summary>
    public ValueTask NoteAsync(Sender sender) =>
        _used.TryGetValue(sender, out var used) && (time.WallTime() - used).Duration() < Noted ? ValueTask.CompletedTask : new ValueTask(StoreAsync(sender));

    /// <summary>The form in which the cookie of a browser is kept.</summary>
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
            // The request may end meanwhile: its sender was right all the same.
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
            // The storage has told of it, and a place in the line is worth no refusal.
        }
    }

    internal sealed record SenderRow(string Kind, string Mark, long UsedAt);
}

/// <summary>
/// The cookie of a browser that has logged in, as OWASP's device cookies. It opens nothing: it gives the browser a failure budget of its own
/// and the first place in the line, so that guessers elsewhere cannot keep its user out.
/// </summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class KnownBrowser(AdminStore store, KnownSenders known)
{
    private const int SecretBytes = 32;

    private string Cookie => $"sluice-device-{store.Instance}";

    /// <summary>The sender of a login: the browser if it is known, else its address.</summary>
    public Caller CallerOf(HttpContext http) =>
        Find(http) is { } cookie ? Caller.Of(http) with { Browser = KnownSenders.HashOf(cookie) } : Caller.Of(http);

    /// <summary>Notes that a browser has logged in, and gives it the cookie that it is known by.</summary>
    /// <param name="http">Its request.</param>
    /// <param name="options">Makes the options of a cookie that lasts until a moment.</param>
    public async Task RememberAsync(HttpContext http, Func<TimeSpan, CookieOptions> options)
    {
        var cookie = Find(http) ?? Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(SecretBytes));
        await known.NoteAsync(new Sender(default, KnownSenders.HashOf(cookie)));
        http.Response.Cookies.Append(Cookie, cookie, options(KnownSenders.BrowserLifetime));
    }

    private string? Find(HttpContext http) =>
        http.Request.Cookies[Cookie] is { Length: > 0 } cookie && known.IsKnown(new Sender(default, KnownSenders.HashOf(cookie))) ? cookie : null;
}
