using System.Diagnostics.Metrics;
using Microsoft.Extensions.Logging;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nntp.Health;
using Sluice.Usenet.Nntp.Wire;
using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Nntp.Fetching;

/// <summary>
/// The accounts of the process. An account is a host, port and user. Connections, permits and everything learned about a server belong
/// to the account, however many settings entries name it and however often the settings change.
/// </summary>
/// <remarks>
/// Thread-safe. A <see cref="ProviderPool"/> uses the accounts of its entries until the pool is disposed; an unused account closes.
/// Dispose ends all fetches and closes all sockets.
/// </remarks>
public sealed class NntpAccounts : IAsyncDisposable
{
    private const int HandshakesInAll = 12;
    private static readonly TimeSpan LoneCooldown = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan LongestLoneCooldown = TimeSpan.FromSeconds(15);

    private readonly Lock _gate = new();
    private readonly SharedResources _shared;

    // Guarded by _gate.
    private readonly Dictionary<AccountKey, Account> _accounts = [];
    private readonly Dictionary<Guid, AccountKey> _known = [];
    private bool _isDisposed;

    // Replaced under _gate when an account is added or removed. Read without the lock, because each returned permit pumps all accounts.
    private volatile Account[] _all = [];

    /// <summary>Creates the accounts without opening any connection.</summary>
    /// <param name="limiter">Shared by everything that fetches in this process.</param>
    /// <param name="memory">Learned facts about the providers; null to start without any and keep none.</param>
    /// <param name="names">Resolves host names; null for the system's resolver.</param>
    /// <param name="bandwidth">Limits the bandwidth of all providers together; not owned. Null for no limit.</param>
    public NntpAccounts(
        GlobalOperationLimiter limiter, TimeProvider time, ILoggerFactory loggers, ProviderMemory? memory = null, INameResolver? names = null, BandwidthLimiter? bandwidth = null)
    {
        var deadlines = new DeadlineGrid(time);
        _shared = new SharedResources(
            new NntpOptions(), limiter, new HandshakeLimit(HandshakesInAll, time), new NntpMeter(time), memory ?? new ProviderMemory(time), time, loggers.CreateLogger<ProviderPool>(), names, dial: null, bandwidth, deadlines, new GatheringBeat(time, deadlines));
        Releases = new ReleaseOrder(time);
        limiter.Returned += PumpAll;
        _shared.Bandwidth.Due += PumpAll;
    }

    public GlobalOperationLimiter Limiter => _shared.Limiter;

    /// <summary>The metrics of all connections, named <c>Sluice.Nntp</c>. Permits are reported by the limiter.</summary>
    public Meter Meter => _shared.Meter.Source;

    public long BytesReceived => _shared.Meter.BytesReceived;

    /// <summary>Usage of each provider since startup, by provider id. If several entries name one account, it counts for the first entry.</summary>
    public IReadOnlyDictionary<Guid, ProviderUse> Uses => _shared.Traffics.Uses;

    /// <summary>
    /// Bytes charged to the data cap of an account (<see cref="ProviderStatus.Account"/>); negative after a refill of more than the used bytes. Starts at 0 and
    /// grows with each received byte.
    /// </summary>
    public long Charged(Guid account) => _shared.Traffics.Of(account).Charged;

    /// <summary>Sets these bytes as of now. <see cref="OnQuotaChanged"/> must follow.</summary>
    public void SetCharged(Guid account, long bytes) => _shared.Traffics.Of(account).SetCharged(bytes);

    /// <summary>Adds to these bytes, or subtracts from them. <see cref="OnQuotaChanged"/> must follow.</summary>
    public void AddCharged(Guid account, long bytes) => _shared.Traffics.Of(account).AddCharged(bytes);

    /// <summary>Serves or refuses the waiting fetches by the changed counts, and lets work continue that waits for a provider. Call under no lock.</summary>
    public void OnQuotaChanged()
    {
        PumpAll();
        _shared.Recovery.Set();
    }

    /// <summary>Times to the first byte of an article since startup, by provider id.</summary>
    public IReadOnlyDictionary<Guid, HistogramSnapshot> FirstBytes => _shared.Traffics.FirstBytes;

    public FetchTotals Totals => _shared.Meter.Totals;

    /// <summary>Completes when a provider in cooldown can be used again. Read the property again for the next recovery.</summary>
    public Task NextRecovery => _shared.Recovery.Next;

    internal SharedResources Shared => _shared;

    /// <summary>Tracks which providers lack much of a release.</summary>
    internal ReleaseOrder Releases { get; }

    /// <summary>Applies the facts restored from an earlier run, unless this run has learned something newer.</summary>
    public void Recall()
    {
        foreach (var account in _all)
            account.Pool.Recall();
    }

    public async ValueTask DisposeAsync()
    {
        _shared.Limiter.Returned -= PumpAll;
        _shared.Bandwidth.Due -= PumpAll;
        Account[] accounts;
        lock (_gate)
        {
            _isDisposed = true;
            (accounts, _all) = (_all, []);
            _accounts.Clear();
        }

        await Task.WhenAll(accounts.Select(account => account.DisposeAsync().AsTask()));
        if (_shared.Beat is { } beat)
            await beat.DisposeAsync();
        _shared.Meter.Dispose();
    }

    /// <summary>Creates a login test, owned by the caller. If the account is in use, the test takes slots from its pool, because both share the cap.</summary>
    /// <param name="provider">The server and login, saved or not.</param>
    /// <param name="names">Resolves host names and restricts which addresses may be dialed.</param>
    public AccountTest Test(ProviderOptions provider, INameResolver names, NntpOptions options)
    {
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_isDisposed, this);
            if (!_accounts.TryGetValue(AccountKey.Of(provider), out var account))
                return new AccountTest(pool: null, _shared, names, options, release: null);
            account.Uses++;
            return new AccountTest(account.Pool, _shared, names, options, () => ReleaseAsync([provider]));
        }
    }

    /// <summary>Applies the settings to the entries' accounts, which stay open until <see cref="ReleaseAsync"/>. Returns one pool per entry.</summary>
    internal IReadOnlyList<NntpConnectionPool> Acquire(IReadOnlyList<ProviderOptions> entries, NntpOptions options)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(entries.Count, ProviderSet.MaxProviders);
        var wanted = entries.GroupBy(AccountKey.Of).ToDictionary(group => group.Key, group => Together([.. group]));
        // A cooldown lets other providers serve. With a single provider, a reader would only wait longer.
        if (wanted.Values.Count(account => account.Kind != ProviderKind.Disabled) == 1)
            options = options with { BreakerCooldown = LoneCooldown, BreakerLongestCooldown = LongestLoneCooldown };
        _shared.Options = options;

        List<(Account Account, ProviderOptions Options)> kept = [];
        IReadOnlyList<NntpConnectionPool> pools;
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_isDisposed, this);
            foreach (var entry in entries)
                NoteKey(entry);
            foreach (var (key, together) in wanted)
            {
                if (_accounts.TryGetValue(key, out var account))
                    kept.Add((account, together));
                else
                    _accounts.Add(key, account = new Account(new NntpConnectionPool(together, _shared), _shared.Time));
                account.Uses++;
            }

            _all = [.. _accounts.Values];
            pools = [.. entries.Select(entry => _accounts[AccountKey.Of(entry)].Pool)];
        }

        _shared.Handshakes.Accounts = wanted.Values.Count(account => account.Kind != ProviderKind.Disabled);
        foreach (var (account, together) in kept)
            account.Pool.Change(together);
        _shared.Limiter.Allow(wanted.Values.Where(account => account.Kind != ProviderKind.Disabled).Sum(account => account.MaxConnections));
        return pools;
    }

    /// <summary>Releases acquired entries, and closes accounts that nothing uses any more.</summary>
    internal async Task ReleaseAsync(IReadOnlyList<ProviderOptions> entries)
    {
        List<Account> unused = [];
        lock (_gate)
        {
            foreach (var key in entries.Select(AccountKey.Of).Distinct())
            {
                if (_accounts.TryGetValue(key, out var account) && --account.Uses == 0)
                {
                    _accounts.Remove(key);
                    unused.Add(account);
                }
            }

            _all = [.. _accounts.Values];
        }

        await Task.WhenAll(unused.Select(account => account.DisposeAsync().AsTask()));
    }

    /// <summary>Merges several entries of one account into one, with the sum of their connections.</summary>
    private static ProviderOptions Together(ProviderOptions[] entries)
    {
        var enabled = Array.FindAll(entries, entry => entry.Kind != ProviderKind.Disabled);
        var counted = enabled.Length > 0 ? enabled : entries;
        return counted[0] with
        {
            MaxConnections = counted.Sum(entry => entry.MaxConnections),
            Quota = Array.Find(counted, static entry => entry.Quota is not null)?.Quota,
        };
    }

    /// <summary>Forgets everything learned about an entry's id if the entry now names another server.</summary>
    private void NoteKey(ProviderOptions entry)
    {
        var key = AccountKey.Of(entry);
        if (_known.TryGetValue(entry.Id, out var before) && before != key)
            _shared.Memory.ForgetServer(entry.Id);
        _known[entry.Id] = key;
    }

    private void PumpAll()
    {
        foreach (var account in _all)
            account.Pool.Pump();
    }

    /// <summary>Identifies an account: settings entries with the same key share one.</summary>
    private readonly record struct AccountKey(string Host, int Port, string User)
    {
        public static AccountKey Of(ProviderOptions entry) => new(entry.Host.TrimEnd('.').ToUpperInvariant(), entry.Port, entry.User ?? "");
    }

    private sealed class Account(NntpConnectionPool pool, TimeProvider time) : IAsyncDisposable
    {
        private readonly ProviderProber _prober = new(pool, time);

        public NntpConnectionPool Pool => pool;

        /// <summary>Number of pools and tests that use the account. Guarded by the lock of <see cref="NntpAccounts"/>.</summary>
        public int Uses { get; set; }

        public async ValueTask DisposeAsync()
        {
            await _prober.DisposeAsync();
            await pool.DisposeAsync();
        }
    }
}
