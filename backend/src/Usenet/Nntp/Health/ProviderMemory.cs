using System.Runtime.InteropServices;
using System.Security.Cryptography;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Nntp.Health;

/// <summary>A provider operation with its own breaker.</summary>
public enum BreakerKind
{
    /// <summary>Connecting and logging in.</summary>
    Dials = 0,

    Bodies = 1,

    Stats = 2,
}

/// <summary>A stored breaker, so that a restart does not send the first viewer to a provider known to fail (F38).</summary>
/// <remarks>Immutable. All times are wall-clock times, so the breaker that restores them clamps them.</remarks>
/// <param name="Fault">Why the breaker is not closed; null if it is closed.</param>
/// <param name="RestsUntil">When a probe may start.</param>
/// <param name="Trips">How often the breaker has opened recently.</param>
/// <param name="PassesLeft">Number of consecutive probes that must pass before the breaker closes.</param>
public sealed record RememberedBreak(NntpFault? Fault, DateTimeOffset OpenedAt, DateTimeOffset RestsUntil, TimeSpan Cooldown, int Trips, int PassesLeft);

/// <summary>One "no such article" reply, trusted for a while.</summary>
/// <param name="Key">Hash of provider and article.</param>
/// <param name="Until">When the miss expires.</param>
/// <param name="Believed">How long the miss is trusted; the next identical reply doubles this time.</param>
public readonly record struct RememberedMiss(Guid Key, DateTimeOffset Until, TimeSpan Believed);

/// <summary>Facts learned since the last call of <see cref="ProviderMemory.TakeNew"/>, to be stored.</summary>
/// <param name="Caps">Connection caps of providers; null if a provider allows all promised connections.</param>
/// <param name="Misses">Articles that a provider does not have.</param>
public sealed record LearnedValues(IReadOnlyDictionary<Guid, int?> Caps, IReadOnlyList<RememberedMiss> Misses)
{
    /// <summary>Breaker states of providers; null if a breaker no longer has anything to remember.</summary>
    public IReadOnlyDictionary<(Guid Provider, BreakerKind Kind), RememberedBreak?> Breaks { get; init; } = new Dictionary<(Guid, BreakerKind), RememberedBreak?>();

    public bool IsEmpty => Caps.Count == 0 && Misses.Count == 0 && Breaks.Count == 0;
}

/// <summary>
/// Facts learned about providers that outlive one pool or one run of the process (F38): how many connections they allow, which articles they lack, and how long
/// they stay in cooldown.
/// </summary>
/// <remarks>Thread-safe. Never waits for storage. Its owner regularly stores new facts; facts lost before that are learned again.</remarks>
public sealed class ProviderMemory
{
    // Limits the number of misses waiting to be stored. Further misses are kept in memory only.
    private const int MostUntaken = 20_000;

    private readonly Lock _gate = new();
    private readonly Dictionary<Guid, int?> _caps = [];
    private readonly MissMemory _misses;
    private readonly Dictionary<(Guid Provider, BreakerKind Kind), Func<RememberedBreak?>> _breaks = [];
    private Dictionary<Guid, int?> _newCaps = [];
    private HashSet<(Guid Provider, BreakerKind Kind)> _newBreaks = [];
    private List<RememberedMiss> _newMisses = [];
    private TimeSpan _believed = TimeSpan.FromHours(1);
    private int _most = 100_000;

    public ProviderMemory(TimeProvider time) => _misses = new MissMemory(time);

    /// <summary>Sets how long a first miss is trusted, and how many misses are kept.</summary>
    public void Configure(TimeSpan believed, int most)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(most, 1);
        lock (_gate)
            (_believed, _most) = (believed, most);
    }

    /// <summary>Adds the stored facts of an earlier run. Facts learned since take precedence.</summary>
    public void Restore(LearnedValues values)
    {
        lock (_gate)
        {
            foreach (var (provider, cap) in values.Caps)
                _caps.TryAdd(provider, cap);
            foreach (var miss in values.Misses)
                _misses.TryPut(miss, _most);
            foreach (var (breaker, known) in values.Breaks)
                _breaks.TryAdd(breaker, () => known);
        }
    }

    /// <summary>Returns the facts learned since the last call.</summary>
    public LearnedValues TakeNew()
    {
        LearnedValues values;
        KeyValuePair<(Guid, BreakerKind), Func<RememberedBreak?>>[] breaks;
        lock (_gate)
        {
            values = new LearnedValues(_newCaps, _newMisses);
            breaks = [.. _newBreaks.Select(breaker => KeyValuePair.Create(breaker, _breaks.GetValueOrDefault(breaker) ?? (static () => null)))];
            (_newCaps, _newMisses, _newBreaks) = ([], [], []);
        }

        // Breakers are read outside of the lock, because they have locks of their own.
        return values with { Breaks = breaks.ToDictionary(breaker => breaker.Key, breaker => breaker.Value()) };
    }

    /// <summary>The learned connection cap of a provider; null if it allows all promised connections.</summary>
    public int? CapOf(Guid provider)
    {
        lock (_gate)
            return _caps.GetValueOrDefault(provider);
    }

    /// <summary>Forgets the breakers of a provider, because its account or address has changed.</summary>
    public void ForgetBreaks(Guid provider)
    {
        lock (_gate)
        {
            foreach (var kind in Enum.GetValues<BreakerKind>())
            {
                if (_breaks.Remove((provider, kind)))
                    _newBreaks.Add((provider, kind));
            }
        }
    }

    /// <summary>Forgets the breakers and the cap, because the id now names another server.</summary>
    internal void ForgetServer(Guid provider)
    {
        ForgetBreaks(provider);
        RememberCap(provider, null);
    }

    /// <summary>The last known state of a breaker; null if unknown.</summary>
    internal RememberedBreak? BreakOf(Guid provider, BreakerKind kind)
    {
        Func<RememberedBreak?>? known;
        lock (_gate)
            known = _breaks.GetValueOrDefault((provider, kind));
        return known?.Invoke();
    }

    /// <summary>Marks a breaker as changed. Its state is read only when it is stored.</summary>
    internal void RememberBreak(Guid provider, BreakerKind kind, CircuitBreaker breaker)
    {
        lock (_gate)
        {
            _breaks[(provider, kind)] = breaker.Remember;
            _newBreaks.Add((provider, kind));
        }
    }

    internal void RememberCap(Guid provider, int? cap)
    {
        lock (_gate)
            _caps[provider] = _newCaps[provider] = cap;
    }

    internal bool IsMissing(Guid provider, MessageId id)
    {
        lock (_gate)
        {
            if (_misses.Count == 0)
                return false;
        }

        var key = MissMemory.KeyOf(provider, id);
        lock (_gate)
            return _misses.Holds(key);
    }

    /// <summary>Forgets a miss, because the provider may have the article after all.</summary>
    public void ForgetMissing(Guid provider, MessageId id)
    {
        lock (_gate)
        {
            if (_misses.Count == 0)
                return;
        }

        var key = MissMemory.KeyOf(provider, id);
        lock (_gate)
        {
            // Stores an expired miss, because it must replace the stored one.
            if (_misses.Forget(key) is { } forgotten && _newMisses.Count < MostUntaken)
                _newMisses.Add(forgotten);
        }
    }

    /// <summary>Remembers a miss. Timeouts and broken connections never count as misses.</summary>
    internal void RememberMissing(Guid provider, MessageId id)
    {
        var key = MissMemory.KeyOf(provider, id);
        lock (_gate)
        {
            var miss = _misses.Add(key, _believed, _most);
            if (_newMisses.Count < MostUntaken)
                _newMisses.Add(miss);
        }
    }
}

/// <summary>
/// Remembers which provider lacks which article. A miss is trusted for an hour at first, and twice as long after each repetition, up to a
/// day (F18). A pair is kept as 128 bits of SHA-256, so that collisions cannot be forced.
/// </summary>
/// <remarks>Used under the lock of one <see cref="ProviderMemory"/>. Bounded: a new miss replaces the oldest.</remarks>
internal sealed class MissMemory(TimeProvider time)
{
    private static readonly TimeSpan Longest = TimeSpan.FromHours(24);

    private readonly Dictionary<Guid, Answer> _answers = [];
    private readonly Queue<Guid> _byAge = new();

    /// <summary>Stored misses, including expired ones.</summary>
    public int Count => _answers.Count;

    public static Guid KeyOf(Guid provider, MessageId id)
    {
        Span<byte> pair = stackalloc byte[16 + MessageId.MaxLength];
        MemoryMarshal.Write(pair, provider);
        id.Bytes.CopyTo(pair[16..]);
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(pair[..(16 + id.Bytes.Length)], hash);
        return new Guid(hash[..16]);
    }

    public bool Holds(Guid key) => _answers.TryGetValue(key, out var answer) && answer.Until > time.GetTimestamp();

    /// <summary>Expires a miss and returns its replacement; null if the miss was not trusted.</summary>
    public RememberedMiss? Forget(Guid key)
    {
        if (!Holds(key))
            return null;
        var believed = _answers[key].Believed;
        _answers[key] = new Answer(time.GetTimestamp(), believed);
        return new RememberedMiss(key, time.WallTime(), believed);
    }

    /// <summary>Adds a new miss and returns the record to store.</summary>
    public RememberedMiss Add(Guid key, TimeSpan first, int most)
    {
        var believed = _answers.TryGetValue(key, out var before) ? before.Believed * 2 : first;
        believed = believed < Longest ? believed : Longest;
        var miss = new RememberedMiss(key, time.WallTime() + believed, believed);
        Put(miss, most);
        return miss;
    }

    /// <summary>Stores a miss of an earlier run, unless this run has learned something about the article.</summary>
    public void TryPut(RememberedMiss answer, int most)
    {
        if (!_answers.ContainsKey(answer.Key))
            Put(answer, most);
    }

    private void Put(RememberedMiss answer, int most)
    {
        if (!_answers.ContainsKey(answer.Key))
            _byAge.Enqueue(answer.Key);

        // Clamped, because a clock that was once far ahead must not keep a miss for years.
        _answers[answer.Key] = new Answer(time.TimestampOf(answer.Until, past: Longest, ahead: Longest), answer.Believed);
        while (_answers.Count > most)
            _answers.Remove(_byAge.Dequeue());
    }

    /// <param name="Until">Monotonic timestamp, so that setting the clock does not move it.</param>
    private readonly record struct Answer(long Until, TimeSpan Believed);
}
