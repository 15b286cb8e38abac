using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Streams.Proof;

/// <summary>
/// Decides which files and accounts may serve bytes before their article is verified. A file loses this trust for a day after one corrupt article. A provider
/// account loses it while more than one in a thousand of its articles is corrupt (F18).
/// </summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> guards all fields; nothing is called while it is held. Outlives engines. Bounded: with very many corrupt files, the file
/// with the oldest corrupt article is trusted again first.
/// </remarks>
internal sealed class TrustLedger(TimeProvider time)
{
    private readonly Lock _gate = new();

    // The latest corrupt article of each file, by the file's identity.
    private readonly AgingMap<object, Lie> _lies = new(RememberedLie.MostFiles, RememberedLie.Counts, time);

    // One entry per account that the settings have named.
    private readonly Dictionary<Guid, AccountTrust> _accounts = [];

    /// <summary>Whether the settings and the file allow its bytes to be served early.</summary>
    public bool MayLeaveEarly(FileOrigin file, StreamOptions options) => !options.VerifyBeforeServe && IsTrusted(file);

    /// <summary>Whether the file had no corrupt article in the last day.</summary>
    public bool IsTrusted(FileOrigin file)
    {
        lock (_gate)
            return !_lies.TryGet(file.Identity, out _, out _);
    }

    /// <summary>Whether at most one in a thousand articles of an account was corrupt.</summary>
    public bool IsTrusted(Guid account)
    {
        lock (_gate)
            return !_accounts.TryGetValue(account, out var trust) || trust.IsTrusted;
    }

    /// <summary>Records the verdict on an article: corrupt if damaged, the wrong length, or the wrong article. Account ids survive settings changes.</summary>
    public void Judged(FileOrigin file, Guid account, bool isCorrupt)
    {
        lock (_gate)
        {
            if (!_accounts.TryGetValue(account, out var trust))
                _accounts[account] = trust = new AccountTrust();
            trust.Judged(isCorrupt);
            if (isCorrupt)
                _lies.Set(file.Identity, new Lie { IsUnsaved = file.LastingName is not null });
        }
    }

    /// <summary>Returns and clears the newly recorded corrupt files, except files that cannot be recognized after a restart.</summary>
    public IReadOnlyList<RememberedLie> TakeNew()
    {
        lock (_gate)
        {
            List<RememberedLie> taken = [];
            foreach (var (file, lie, since) in _lies.All().Where(static lie => lie.Value.IsUnsaved))
            {
                lie.IsUnsaved = false;
                taken.Add(new RememberedLie((string)file, time.WallTimeOf(since)));
            }

            return taken;
        }
    }

    /// <summary>Restores the corrupt files that an earlier process stored. Entries recorded by this process take precedence.</summary>
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

                // If the wall clock was ahead when the entry was stored, the entry counts from now and is stored again.
                var isAhead = age < TimeSpan.Zero;
                var since = isAhead ? now : now - (long)(age.TotalSeconds * time.TimestampFrequency);
                _lies.TryAddOldest(lie.File, new Lie { IsUnsaved = isAhead }, since);
            }
        }
    }

    private sealed class Lie
    {
        /// <summary>Whether the entry still has to be stored, because the file can be recognized after a restart.</summary>
        public bool IsUnsaved { get; set; }
    }

    /// <summary>Records which of the last 10,000 articles of one account were corrupt.</summary>
    private sealed class AccountTrust
    {
        private const int Remembered = 10_000;
        private const int ArticlesPerLie = 1_000;

        private readonly ulong[] _lies = new ulong[(Remembered / 64) + 1];
        private int _next;
        private int _seen;
        private int _corrupt;

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

/// <summary>Records when an article of a file, given by its <see cref="FileOrigin.LastingName"/>, was corrupt.</summary>
/// <remarks>Counts for a day, even after a restart (F18, F38).</remarks>
public readonly record struct RememberedLie(string File, DateTimeOffset At)
{
    /// <summary>Maximum number of remembered files; the oldest entry is dropped first.</summary>
    public const int MostFiles = 10_000;

    public static readonly TimeSpan Counts = TimeSpan.FromHours(24);
}
