using System.Diagnostics.Metrics;
using Microsoft.Extensions.Logging;
using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nntp.Health;

namespace Sluice.Usenet.Nntp.Fetching;

/// <summary>
/// The accounts of the process: connections, permits and all that is known about a server belong to the account, which is a host, a
/// port and a user, however many entries of the settings name it and however often the settings change around it.
/// </summary>
/// <remarks>
/// Thread-safe. A <see cref="ProviderPool"/> uses the accounts of its entries from its making to its dispose; an account that none
/// uses any more is closed. Dispose ends all fetches and closes all sockets.
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

    // Replaced under _gate when an account comes or goes, and read without it: each permit that is returned goes through all of them.
    private volatile Account[] _all = [];

    /// <summary>Makes connections possible; none is opened before it is needed.</summary>
    /// <param name="limiter">Shared by everything that fetches in this process.</param>
    /// <param name="time">Clock.</param>
    /// <param name="loggers">Where faults are noted.</param>
    /// <param name="memory">What has been learned before and goes on being learned; null: nothing, and nothing is kept.</param>
    /// <param name="names">Finds the addresses of servers; null: the system does.</param>
    /// <param name="bandwidth">Limits what comes from all providers together; not owned. Null: nothing does.</param>
    public NntpAccounts(
        GlobalOperationLimiter limiter, TimeProvider time, ILoggerFactory loggers, ProviderMemory? memory = null, INameResolver? names = null, BandwidthLimiter? bandwidth = null)
    {
        _shared = new SharedResources(
            new NntpOptions(), limiter, new HandshakeLimit(HandshakesInAll, time), new NntpMeter(time), memory ?? new ProviderMemory(time), time, loggers.CreateLogger<ProviderPool>(), names, dial: null, bandwidth);
        Releases = new ReleaseOrder(time);
        limiter.Returned += PumpAll;
        _shared.Bandwidth.Due += PumpAll;
    }

    /// <summary>Permits of all accounts.</summary>
    public GlobalOperationLimiter Limiter => _shared.Limiter;

    /// <summary>Says what all connections do, by the name <c>Sluice.Nntp</c>; the limiter has the permits.</summary>
    public Meter Meter => _shared.Meter.Source;

    /// <summary>Bytes received from all providers since the start.</summary>
    public long BytesReceived => _shared.Meter.BytesReceived;

    /// <summary>What each provider has been used for since the start, by its id; entries of one account count for the first of them.</summary>
    public IReadOnlyDictionary<Guid, ProviderUse> Uses => _shared.Traffics.Uses;

    /// <summary>Completes when a provider that was left alone can be used again. Ask again for the recovery after that.</summary>
    public Task NextRecovery => _shared.Recovery.Next;

    /// <summary>For those who fetch.</summary>
    internal SharedResources Shared => _shared;

    /// <summary>Which providers lack much of which release.</summary>
    internal ReleaseOrder Releases { get; }

    /// <summary>The memory has been restored: takes up what an earlier run has learned, where nothing else has been learned yet.</summary>
    public void Recall()
    {
        foreach (var account in _all)
            account.Pool.Recall();
    }

    /// <inheritdoc/>
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
        _shared.Meter.Dispose();
    }

    /// <summary>
    /// Makes a test of a login possible. Where the account is in use here, the test takes its connections from it: both together never open
    /// more than it allows.
    /// </summary>
    /// <param name="provider">Where and with which login; saved or not.</param>
    /// <param name="names">Finds the addresses, and says which may be asked.</param>
    /// <param name="options">Deadlines and ceilings.</param>
    /// <returns>The caller disposes it.</returns>
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

    /// <summary>Brings the accounts of these entries to the settings, and keeps them until <see cref="ReleaseAsync"/>.</summary>
    /// <returns>One for each entry, in their order.</returns>
    internal IReadOnlyList<NntpConnectionPool> Acquire(IReadOnlyList<ProviderOptions> entries, NntpOptions options)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(entries.Count, ProviderSet.MaxProviders);
        var wanted = entries.GroupBy(AccountKey.Of).ToDictionary(group => group.Key, group => Together([.. group]));
        // To rest from a provider spares time for the others; where there is no other, a reader waits for every second of it.
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

    /// <summary>These entries are not used any more by the one that acquired them; closes the accounts that none uses.</summary>
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

    /// <summary>Several entries of one account are one set of connections, as many as all of them promise together.</summary>
    private static ProviderOptions Together(ProviderOptions[] entries)
    {
        var enabled = Array.FindAll(entries, entry => entry.Kind != ProviderKind.Disabled);
        var counted = enabled.Length > 0 ? enabled : entries;
        return counted[0] with { MaxConnections = counted.Sum(entry => entry.MaxConnections) };
    }

    /// <summary>Forgets what was learned under the id of an entry when the entry names another server than before.</summary>
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

    /// <summary>What makes two entries of the settings one account.</summary>
    private readonly record struct AccountKey(string Host, int Port, string User)
    {
        public static AccountKey Of(ProviderOptions entry) => new(entry.Host.TrimEnd('.').ToUpperInvariant(), entry.Port, entry.User ?? "");
    }

    /// <summary>One account in use.</summary>
    private sealed class Account(NntpConnectionPool pool, TimeProvider time) : IAsyncDisposable
    {
        private readonly ProviderProber _prober = new(pool, time);

        public NntpConnectionPool Pool => pool;

        /// <summary>Pools of providers that use it. Guarded by the lock of the accounts.</summary>
        public int Uses { get; set; }

        public async ValueTask DisposeAsync()
        {
            await _prober.DisposeAsync();
            await pool.DisposeAsync();
        }
    }
}
