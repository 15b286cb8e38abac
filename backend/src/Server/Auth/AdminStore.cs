using System.Security.Cryptography;
using System.Text;
using Dapper;
using Microsoft.Extensions.Options;
using Microsoft.Extensions.Primitives;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Auth;

/// <summary>The administrator's login: name, hashed password, and the current step of the setup checklist.</summary>
internal sealed record AdminAccount(string Name, PasswordHash Password, string Step);

/// <summary>A named API key. Only its hash is stored, so that a copy of the database gives no access.</summary>
internal sealed record AdminKey(long Id, string Name, bool HasFullAccess, string Hash, DateTimeOffset Created, DateTimeOffset? Used);

/// <summary>Stores the administrator's login, browser sessions and named keys. Sessions and keys are stored as hashes.</summary>
/// <remarks>Thread-safe. Everything is cached in memory, so that a request costs no query.</remarks>
internal sealed class AdminStore(SluiceDatabase database, IOptionsMonitor<AuthOptions> options, TimeProvider time) : ISetup, IDisposable
{
    // A household has few devices, so older sessions beyond this limit are abandoned ones.
    private const int MaxSessions = 200;

    private const int SecretBytes = 32;
    private const long Account = 1;

    private static readonly TimeSpan KeyNoteInterval = TimeSpan.FromHours(1);

    // Serializes changes. Readers use the latest immutable state without a lock.
    private readonly SemaphoreSlim _turn = new(1);
    private volatile State _state = new(null, [], [], "");
    private ConfigurationReloadToken _change = new();

    /// <summary>The login; null before setup.</summary>
    public AdminAccount? Admin => _state.Account;

    public bool IsNeeded => Admin is null;

    /// <summary>8 hex digits for the cookie name, because otherwise the cookies of several servers on one host would collide.</summary>
    public string Instance => _state.Instance;

    public IReadOnlyList<AdminKey> Keys => _state.Keys;

    /// <summary>A token that fires at the next change of login, sessions or keys.</summary>
    public IChangeToken GetChangeToken() => Volatile.Read(ref _change);

    public async Task LoadAsync(CancellationToken cancellationToken) =>
        PutInForce(await database.ReadAsync(
            connection => new State(
                connection.Query<AccountRow>("SELECT id AS Id, name AS Name, password AS Password, step AS Step FROM admin_account")
                    .Select(row => PasswordHash.Parse(row.Password) is { } hash ? new AdminAccount(row.Name, hash, row.Step) : null)
                    .FirstOrDefault(),
                connection.Query<SessionRow>("SELECT hash AS Hash, used_at AS UsedAt, created_at AS CreatedAt, address AS Address, agent AS Agent FROM admin_session")
                    .ToDictionary(
                        row => row.Hash,
                        row => Known(new AdminSession(
                            row.Hash, LivedTime.Read(row.CreatedAt, time), LivedTime.Read(row.UsedAt, time), null, new SessionPlace(row.Address, row.Agent)))),
                [
                    .. connection.Query<KeyRow>(
                            "SELECT id AS Id, name AS Name, full_access AS FullAccess, hash AS Hash, created_at AS CreatedAt, used_at AS UsedAt FROM admin_key ORDER BY id")
                        .Select(row => new AdminKey(
                            row.Id, row.Name, row.FullAccess != 0, row.Hash, StoredTime.Read(row.CreatedAt), row.UsedAt is { } used ? StoredTime.Read(used) : null)),
                ],
                connection.ExecuteScalar<string>("SELECT id FROM instance") ?? ""),
            cancellationToken));

    /// <summary>Creates the login. Returns false if one exists.</summary>
    public Task<bool> CreateAsync(string name, PasswordHash password, string step, CancellationToken cancellationToken) =>
        ChangeAsync(
            state => state.Account is null ? state with { Account = new AdminAccount(name, password, step) } : null,
            state => connection => connection.Execute(
                "INSERT INTO admin_account (id, name, password, step) VALUES (@Id, @Name, @Password, @Step)", AccountRow.Of(state.Account!)),
            cancellationToken);

    /// <summary>Changes the login. A new password ends all sessions (admin.md, account).</summary>
    public Task<bool> ChangeAccountAsync(AdminAccount account, bool endsSessions, CancellationToken cancellationToken) =>
        ChangeAsync(
            state => state with { Account = account, Sessions = endsSessions ? [] : state.Sessions },
            _ => connection =>
            {
                if (endsSessions)
                    connection.Execute("DELETE FROM admin_session");
                return connection.Execute(
                    "UPDATE admin_account SET name = @Name, password = @Password, step = @Step WHERE id = @Id", AccountRow.Of(account));
            },
            cancellationToken);

    /// <summary>Stores a new hash of the same password, unless the login has changed in the meantime.</summary>
    public Task<bool> RenewPasswordAsync(AdminAccount known, PasswordHash renewed, CancellationToken cancellationToken) =>
        ChangeAsync(
            state => state.Account == known ? state with { Account = known with { Password = renewed } } : null,
            state => connection => connection.Execute("UPDATE admin_account SET password = @Password WHERE id = @Id", AccountRow.Of(state.Account!)),
            cancellationToken);

    /// <summary>Removes the login and all sessions. Named keys stay.</summary>
    public Task<bool> RemoveAccountAsync(CancellationToken cancellationToken) =>
        ChangeAsync(
            state => state with { Account = null, Sessions = [] },
            _ => connection => connection.Execute("DELETE FROM admin_session") + connection.Execute("DELETE FROM admin_account"),
            cancellationToken);

    /// <summary>Sessions that have not ended, most recently used first.</summary>
    public IReadOnlyList<AdminSession> Sessions => [.. _state.Sessions.Values.Where(IsAlive).OrderBy(session => session.Used.Age(time))];

    /// <summary>Opens a session after a login. Returns the cookie value.</summary>
    public async Task<string> OpenSessionAsync(SessionPlace place, CancellationToken cancellationToken)
    {
        var id = Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(SecretBytes));
        var now = LivedTime.Now(time);
        var opened = new AdminSession(HashOf(id), now, now, now, place);
        var surplus = (string[])[];
        await ChangeAsync(
            state =>
            {
                // Limit the number instead of the age, because a wrong clock must not end all sessions.
                surplus = [.. state.Sessions.Values.OrderBy(session => session.Used.Age(time)).Skip(MaxSessions - 1).Select(session => session.Hash)];
                return state with { Sessions = new(state.Sessions.Where(session => !surplus.Contains(session.Key))) { [opened.Hash] = opened } };
            },
            _ => connection =>
            {
                connection.Execute($"DELETE FROM admin_session WHERE {SqlDialect.In("hash", "@list")}", new { list = SqlDialect.List(surplus) });
                return connection.Execute(
                    "INSERT INTO admin_session (hash, used_at, created_at, address, agent) VALUES (@Hash, @UsedAt, @CreatedAt, @Address, @Agent)", SessionRow.Of(opened));
            },
            cancellationToken);
        return id;
    }

    /// <summary>Finds a session by its cookie; null if it is unknown or has ended.</summary>
    public AdminSession? FindSession(string id) => _state.Sessions.TryGetValue(HashOf(id), out var session) && IsAlive(session) ? session : null;

    /// <summary>Returns when a session ends if it stays unused; null if it is unknown or has ended.</summary>
    public DateTimeOffset? SessionEnds(string id) => FindSession(id) is { } session ? SessionEnds(session) : null;

    public DateTimeOffset SessionEnds(AdminSession session) => time.WallTime() + session.Left(options.CurrentValue.SessionTime, time);

    public bool IsProved(AdminSession session) => session.IsProved(time);

    /// <summary>Records that the user of this session has just entered the password.</summary>
    public Task ProveSessionAsync(AdminSession session, CancellationToken cancellationToken) =>
        UpdateSessionsAsync(state => state.Sessions.TryGetValue(session.Hash, out var known) ? [known with { Proved = LivedTime.Now(time) }] : [], cancellationToken);

    /// <summary>Records the use of a session about once an hour. Also corrects times saved under a wrong clock, which could prolong the session.</summary>
    public async Task UseSessionAsync(string id, SessionPlace place, CancellationToken cancellationToken)
    {
        if (FindSession(id) is not { } used || !(used.IsNoteworthy(place, time) || _state.Sessions.Values.Any(IsOff)))
            return;
        await UpdateSessionsAsync(
            state =>
            [
                .. state.Sessions.Values
                    .Where(session => session.Hash == used.Hash || IsOff(session))
                    .Select(session => session.Hash == used.Hash ? session with { Used = LivedTime.Now(time), Place = place } : session)
                    .Select(session => session with { Used = session.Used.Corrected(time), Created = session.Created.Corrected(time) }),
            ],
            cancellationToken);
    }

    public Task EndSessionAsync(string id, CancellationToken cancellationToken) => RemoveSessionAsync(HashOf(id), cancellationToken);

    /// <summary>Ends a session by its public id. Returns whether it existed.</summary>
    public async Task<bool> EndListedSessionAsync(string listed, CancellationToken cancellationToken)
    {
        if (Sessions.FirstOrDefault(session => session.Id == listed) is not { } session)
            return false;
        await RemoveSessionAsync(session.Hash, cancellationToken);
        return true;
    }

    /// <summary>Creates a named key. Only this call returns it, because the database stores its hash.</summary>
    public async Task<(AdminKey Row, string Key)> MakeKeyAsync(string name, bool hasFullAccess, CancellationToken cancellationToken)
    {
        var key = Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(SecretBytes));
        var (hash, now) = (HashOf(key), time.WallTime());
        var row = new KeyRow(0, name, hasFullAccess ? 1 : 0, hash, now.ToUnixTimeMilliseconds(), null);
        await database.WriteAsync(
            connection => connection.Execute(
                "INSERT INTO admin_key (name, full_access, hash, created_at) VALUES (@Name, @FullAccess, @Hash, @CreatedAt)", row),
            cancellationToken);
        await ReloadAsync(cancellationToken);
        return (_state.Keys.Single(made => made.Hash == hash), key);
    }

    public async Task<bool> RemoveKeyAsync(long id, CancellationToken cancellationToken)
    {
        var count = await database.WriteAsync(connection => connection.Execute("DELETE FROM admin_key WHERE id = @id", new { id }), cancellationToken);
        await ReloadAsync(cancellationToken);
        return count > 0;
    }

    public Task<bool> RemoveKeysAsync(CancellationToken cancellationToken) =>
        ChangeAsync(state => state with { Keys = [] }, _ => connection => connection.Execute("DELETE FROM admin_key"), cancellationToken);

    public AdminKey? FindKey(string key)
    {
        // An ordinary comparison is safe for hashes, because its timing reveals nothing about the key.
        var hash = HashOf(key);
        return _state.Keys.FirstOrDefault(other => other.Hash == hash);
    }

    /// <summary>Records the use of a key, at most once an hour.</summary>
    public async Task UseKeyAsync(AdminKey key, CancellationToken cancellationToken)
    {
        var now = time.WallTime();
        if (key.Used is { } used && (now - used).Duration() < KeyNoteInterval)
            return;
        await database.WriteAsync(
            connection => connection.Execute("UPDATE admin_key SET used_at = @at WHERE id = @id", new { at = now.ToUnixTimeMilliseconds(), id = key.Id }), cancellationToken);
        await ReloadAsync(cancellationToken);
    }

    public void Dispose() => _turn.Dispose();

    private static string HashOf(string secret) => Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(secret)));

    private bool IsAlive(AdminSession session) => session.Left(options.CurrentValue.SessionTime, time) > TimeSpan.Zero;

    private bool IsOff(AdminSession session) => session.Used.IsOff(time) || session.Created.IsOff(time);

    /// <summary>Returns the in-memory session if there is one, because it also has monotonic times.</summary>
    private AdminSession Known(AdminSession read) => _state.Sessions.GetValueOrDefault(read.Hash, read);

    private async Task RemoveSessionAsync(string hash, CancellationToken cancellationToken) => await ChangeAsync(
        state => state with { Sessions = new(state.Sessions.Where(session => session.Key != hash)) },
        _ => connection => connection.Execute("DELETE FROM admin_session WHERE hash = @hash", new { hash }),
        cancellationToken);

    private async Task UpdateSessionsAsync(Func<State, IReadOnlyList<AdminSession>> change, CancellationToken cancellationToken)
    {
        IReadOnlyList<AdminSession> changed = [];
        await ChangeAsync(
            state =>
            {
                changed = change(state);
                var sessions = new Dictionary<string, AdminSession>(state.Sessions);
                foreach (var session in changed)
                    sessions[session.Hash] = session;
                return state with { Sessions = sessions };
            },
            _ => connection =>
            {
                foreach (var session in changed)
                    connection.Execute("UPDATE admin_session SET used_at = @UsedAt, created_at = @CreatedAt, address = @Address, agent = @Agent WHERE hash = @Hash", SessionRow.Of(session));
                return changed.Count;
            },
            cancellationToken);
    }

    private async Task ReloadAsync(CancellationToken cancellationToken)
    {
        await _turn.WaitAsync(cancellationToken);
        try
        {
            await LoadAsync(cancellationToken);
        }
        finally
        {
            _turn.Release();
        }
    }

    private void PutInForce(State state)
    {
        _state = state;
        Interlocked.Exchange(ref _change, new ConfigurationReloadToken()).OnReload();
    }

    /// <summary>Saves a change, then applies it.</summary>
    private async Task<bool> ChangeAsync(
        Func<State, State?> change, Func<State, Func<System.Data.Common.DbConnection, int>> write, CancellationToken cancellationToken)
    {
        await _turn.WaitAsync(cancellationToken);
        try
        {
            if (change(_state) is not { } changed)
                return false;
            await database.WriteAsync(write(changed), cancellationToken);
            PutInForce(changed);
            return true;
        }
        finally
        {
            _turn.Release();
        }
    }

    internal sealed record AccountRow(long Id, string Name, string Password, string Step)
    {
        public static AccountRow Of(AdminAccount account) => new(Account, account.Name, account.Password.ToString(), account.Step);
    }

    internal sealed record SessionRow(string Hash, long UsedAt, long CreatedAt, string Address, string Agent)
    {
        public static SessionRow Of(AdminSession session) => new(
            session.Hash, session.Used.Stored.ToUnixTimeMilliseconds(), session.Created.Stored.ToUnixTimeMilliseconds(), session.Place.Address, session.Place.Agent);
    }

    internal sealed record KeyRow(long Id, string Name, long FullAccess, string Hash, long CreatedAt, long? UsedAt);

    private sealed record State(AdminAccount? Account, Dictionary<string, AdminSession> Sessions, IReadOnlyList<AdminKey> Keys, string Instance);
}
