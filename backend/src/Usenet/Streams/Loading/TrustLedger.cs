using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Streams.Loading;

/// <summary>
/// Decides whose bytes may leave before their article is proved. The first corrupt article withdraws that trust from its file for a day;
/// a provider account loses it for as long as more than one in a thousand of its articles is corrupt (F18).
/// </summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> guards all fields; nothing is called under it. Outlives engines. Bounded: of very many files with corrupt
/// articles the one whose last corrupt article is oldest is trusted again first.
/// </remarks>
internal sealed class TrustLedger(TimeProvider time)
{
    private readonly Lock _gate = new();

    // The last lie of each file, by its identity.
    private readonly AgingMap<object, Lie> _lies = new(RememberedLie.MostFiles, RememberedLie.Counts, time);

    // One for each account that the settings have named.
    private readonly Dictionary<Guid, AccountTrust> _accounts = [];

    /// <summary>Whether the bytes of a file may leave early, as far as the settings and the file are concerned.</summary>
    public bool MayLeaveEarly(FileOrigin file, StreamOptions options) => !options.VerifyBeforeServe && IsTrusted(file);

    /// <summary>Whether no article of a file has been corrupt of late.</summary>
    public bool IsTrusted(FileOrigin file)
    {
        lock (_gate)
            return !_lies.TryGet(file.Identity, out _, out _);
    }

    /// <summary>Whether hardly any article of an account has been corrupt.</summary>
    public bool IsTrusted(Guid account)
    {
        lock (_gate)
            return !_accounts.TryGetValue(account, out var trust) || trust.IsTrusted;
    }

    /// <summary>An article has been judged.</summary>
    /// <param name="file">For which it was loaded.</param>
    /// <param name="account">That delivered it: the same one at whatever index the settings give it.</param>
    /// <param name="isCorrupt">Whether it was another article, of another length, or damaged.</param>
    public void Judged(FileOrigin file, Guid account, bool isCorrupt)
    {
        lock (_gate)
        {
            if (!_accounts.TryGetValue(account, out var trust))
                _accounts[account] = trust = new AccountTrust();
            trust.Judged(isCorrupt);
            if (isCorrupt)
                _lies.Set(file.Identity, new Lie { IsUntaken = file.LastingName is not null });
        }
    }

    /// <summary>Takes out the lies since the last call, of files that are known after a restart.</summary>
    public IReadOnlyList<RememberedLie> TakeNew()
    {
        lock (_gate)
        {
            List<RememberedLie> taken = [];
            foreach (var (file, lie, since) in _lies.All().Where(static lie => lie.Value.IsUntaken))
            {
                lie.IsUntaken = false;
                taken.Add(new RememberedLie((string)file, time.WallTimeOf(since)));
            }

            return taken;
        }
    }

    /// <summary>Takes in the lies that an earlier process has stored. Those that this process knows already stand.</summary>
    public void Restore(IEnumerable<RememberedLie> lies)
    {
        lock (_gate)
        {
            var (now, utc) = (time.GetTimestamp(), time.WallTime());
            foreach (var lie in lies.OrderByDescending(lie => lie.At))
            {
                var age = utc - lie.At;
                if (age >= RememberedLie.Counts)
                    return;

                // Where the wall clock was ahead then, the lie is one of today from now on, and stored as such.
                var isAhead = age < TimeSpan.Zero;
                var since = isAhead ? now : now - (long)(age.TotalSeconds * time.TimestampFrequency);
                _lies.TryAddOldest(lie.File, new Lie { IsUntaken = isAhead }, since);
            }
        }
    }

    private sealed class Lie
    {
        /// <summary>Whether it has to be stored still; only a lie of a file that is known after a restart.</summary>
        public bool IsUntaken { get; set; }
    }

    /// <summary>Which of the last 10,000 articles of one account were corrupt.</summary>
    private sealed class AccountTrust
    {
        private const int Remembered = 10_000;
        private const int ArticlesPerLie = 1_000;

        private readonly ulong[] _lies = new ulong[(Remembered / 64) + 1];
        private int _next;
        private int _seen;
        private int _corrupt;

        /// <summary>Whether at most one in a thousand was corrupt, of as many as there were.</summary>
        public bool IsTrusted => (long)_corrupt * ArticlesPerLie <= _seen;

        public void Judged(bool isCorrupt)
        {
            ref var word = ref _lies[_next / 64];
            var bit = 1UL << (_next % 64);
            if ((word & bit) != 0)
                _corrupt--;
            if (isCorrupt)
                _corrupt++;
            word = isCorrupt ? word | bit : word & ~bit;
            _seen = Math.Min(_seen + 1, Remembered);
            _next = (_next + 1) % Remembered;
        }
    }
}

/// <summary>An article of a file was corrupt, which is held against the file for a day and over restarts (F18, F38).</summary>
/// <param name="File">The <see cref="FileOrigin.LastingName"/> of the file.</param>
/// <param name="At">When, by the wall clock.</param>
public readonly record struct RememberedLie(string File, DateTimeOffset At)
{
    /// <summary>Most files that are remembered; the one whose lie is oldest makes room.</summary>
    public const int MostFiles = 10_000;

    /// <summary>How long it counts.</summary>
    public static readonly TimeSpan Counts = TimeSpan.FromHours(24);
}
