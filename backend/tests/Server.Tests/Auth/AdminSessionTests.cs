using Sluice.Server.Auth;
using Sluice.Server.Database;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Auth;

/// <summary>Lifetime of sessions, independent of the wall clock (S33).</summary>
public sealed class AdminSessionTests : IDisposable
{
    private static readonly SessionPlace Home = new("192.0.2.1", "a browser");
    private static readonly TimeSpan Day = TimeSpan.FromDays(1);

    private readonly TemporaryFolder _temporary = new();
    private readonly ManualTimeProvider _time = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Unused_session_ends_after_30_days()
    {
        await using var database = _temporary.OpenDatabase(_time);
        using var store = await LoadAsync(database);
        var id = await store.OpenSessionAsync(Home, Token);

        _time.Advance(30 * Day - TimeSpan.FromMinutes(1));
        Assert.NotNull(store.FindSession(id));
        _time.Advance(TimeSpan.FromMinutes(1));
        Assert.Null(store.FindSession(id));
        Assert.Empty(store.Sessions);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Session_used_daily_ends_after_180_days(bool restarts)
    {
        await using var database = _temporary.OpenDatabase(_time);
        var store = await LoadAsync(database);
        var id = await store.OpenSessionAsync(Home, Token);

        for (var day = 1; day < 180; day++)
        {
            _time.Advance(Day);
            await store.UseSessionAsync(id, Home, Token);
            Assert.NotNull(store.FindSession(id));
            if (restarts)
            {
                store.Dispose();
                store = await LoadAsync(database);
            }
        }

        Assert.Equal(_time.GetUtcNow() + Day, store.SessionEnds(id));
        _time.Advance(Day);
        Assert.Null(store.SessionEnds(id));
        store.Dispose();
    }

    [Theory]
    [InlineData(400)]
    [InlineData(-700)]
    [InlineData(-20_000)]
    public async Task Temporary_clock_jump_neither_ends_nor_extends_sessions(int days)
    {
        await using var database = _temporary.OpenDatabase(_time);
        using var before = await LoadAsync(database);
        var (old, used) = (await before.OpenSessionAsync(Home, Token), await before.OpenSessionAsync(Home, Token));
        _time.Advance(TimeSpan.FromHours(2));
        using var store = await LoadAsync(database);
        await store.UseSessionAsync(used, Home, Token);

        _time.SetWallClock(days * Day);
        var meanwhile = await store.OpenSessionAsync(Home, Token);
        _time.SetWallClock(-days * Day);
        await store.UseSessionAsync(meanwhile, Home, Token);

        using var restarted = await LoadAsync(database);
        foreach (var each in (AdminStore[])[store, restarted])
        {
            Assert.All([old, used, meanwhile], id => Assert.NotNull(each.FindSession(id)));
            Assert.Equal(_time.GetUtcNow() + (30 * Day), each.SessionEnds(meanwhile));
        }

        _time.Advance(30 * Day);
        Assert.Empty(store.Sessions);
        Assert.Empty(restarted.Sessions);
    }

    [Fact]
    public async Task Clock_jump_does_not_end_a_session_in_use()
    {
        await using var database = _temporary.OpenDatabase(_time);
        using var store = await LoadAsync(database);
        var id = await store.OpenSessionAsync(Home, Token);

        _time.SetWallClock(400 * Day);

        Assert.NotNull(store.FindSession(id));
        Assert.True(store.IsProved(store.FindSession(id)!));
    }

    [Fact]
    public async Task Entered_password_counts_for_10_minutes_or_until_restart()
    {
        await using var database = _temporary.OpenDatabase(_time);
        using var store = await LoadAsync(database);
        var id = await store.OpenSessionAsync(Home, Token);
        // A new key makes the store load all rows again.
        await store.MakeKeyAsync("a key", hasFullAccess: false, Token);

        Assert.True(store.IsProved(store.FindSession(id)!));
        _time.Advance(TimeSpan.FromMinutes(10));
        Assert.False(store.IsProved(store.FindSession(id)!));
        await store.ProveSessionAsync(store.FindSession(id)!, Token);
        Assert.True(store.IsProved(store.FindSession(id)!));
        using var restarted = await LoadAsync(database);
        Assert.False(restarted.IsProved(restarted.FindSession(id)!));
    }

    [Fact]
    public async Task Least_recently_used_session_makes_room_for_the_201st()
    {
        await using var database = _temporary.OpenDatabase(_time);
        using var store = await LoadAsync(database);
        var first = await store.OpenSessionAsync(Home, Token);
        _time.Advance(TimeSpan.FromHours(1));
        for (var i = 0; i < 199; i++)
            await store.OpenSessionAsync(Home, Token);
        Assert.NotNull(store.FindSession(first));

        _time.Advance(TimeSpan.FromHours(1));
        await store.OpenSessionAsync(Home, Token);

        Assert.Null(store.FindSession(first));
        Assert.Equal(200, store.Sessions.Count);
    }

    [Fact]
    public async Task Renewed_hash_never_replaces_a_changed_password()
    {
        await using var database = _temporary.OpenDatabase(_time);
        using var store = await LoadAsync(database);
        var (former, renewed, changed) = (Hash("former"), Hash("former"), Hash("changed"));
        await store.CreateAsync("admin", former, "done", Token);
        var known = store.Admin!;
        await store.ChangeAccountAsync(known with { Password = changed }, endsSessions: true, Token);

        // A login with the former password was checked before the change, and its renewed hash arrives after it.
        Assert.False(await store.RenewPasswordAsync(known, renewed, Token));
        Assert.Same(changed, store.Admin!.Password);

        Assert.True(await store.RenewPasswordAsync(store.Admin, renewed, Token));
        Assert.Same(renewed, store.Admin.Password);
    }

    private static PasswordHash Hash(string password) => PasswordHash.Parse(QuickHash.Of(password))!;

    private async Task<AdminStore> LoadAsync(SluiceDatabase database)
    {
        var store = new AdminStore(database, new FixedOptions<AuthOptions>(new AuthOptions { SessionTime = 30 * Day }), _time);
        await store.LoadAsync(Token);
        return store;
    }
}
