using System.Runtime.InteropServices;
using System.Security.Cryptography;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Nntp.Health;

/// <summary>What a provider is asked for, each with a breaker of its own.</summary>
public enum BreakerKind
{
    /// <summary>Connecting and logging in.</summary>
    Dials = 0,

    /// <summary>BODY.</summary>
    Bodies = 1,

    /// <summary>STAT.</summary>
    Stats = 2,
}

/// <summary>Where a breaker stood, so that a restart does not send the first viewer to a provider that is known to fail (F38).</summary>
/// <remarks>Immutable. Times are those of the wall; the breaker that takes it up believes them only as far as they can be.</remarks>
/// <param name="Fault">Why it is not closed; null when it is.</param>
/// <param name="OpenedAt">When it opened last.</param>
/// <param name="RestsUntil">When a probe may go through.</param>
/// <param name="Cooldown">How long it rests.</param>
/// <param name="Trips">How often it has opened of late.</param>
/// <param name="PassesLeft">Probes in a row that have to pass before it closes.</param>
public sealed record RememberedBreak(NntpFault? Fault, DateTimeOffset OpenedAt, DateTimeOffset RestsUntil, TimeSpan Cooldown, int Trips, int PassesLeft);

/// <summary>One answer "no such article" that is believed for a while.</summary>
/// <param name="Key">Stands for provider and article.</param>
/// <param name="Until">When it is forgotten.</param>
/// <param name="Believed">How long it is believed from the answer on; twice as long after the next.</param>
public readonly record struct RememberedMiss(Guid Key, DateTimeOffset Until, TimeSpan Believed);

/// <summary>What has been learned since it was last taken for storing.</summary>
/// <param name="Caps">Connections that a provider takes; null: all that its account promises.</param>
/// <param name="Misses">Articles that a provider does not have.</param>
public sealed record LearnedValues(IReadOnlyDictionary<Guid, int?> Caps, IReadOnlyList<RememberedMiss> Misses)
{
    /// <summary>Where the breakers of providers stand; null: nothing to remember any more.</summary>
    public IReadOnlyDictionary<(Guid Provider, BreakerKind Kind), RememberedBreak?> Breaks { get; init; } = new Dictionary<(Guid, BreakerKind), RememberedBreak?>();

    /// <summary>Whether there is nothing new.</summary>
    public bool IsEmpty => Caps.Count == 0 && Misses.Count == 0 && Breaks.Count == 0;
}

/// <summary>
/// What has been learned about providers and is worth more than one pool of them, or one run of the process (F38): how many
/// connections they take, which articles they do not have, and how long they are left alone.
/// </summary>
/// <remarks>
/// Thread-safe. Answers from memory and never waits; its owner takes what is new from time to time and stores it. What
/// could not be stored is learned again.
/// </remarks>
public sealed class ProviderMemory
{
    // What waits to be stored; beyond it news is kept in memory only.
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

    /// <summary>Creates an empty memory.</summary>
    /// <param name="time">Clock.</param>
    public ProviderMemory(TimeProvider time) => _misses = new MissMemory(time);

    /// <summary>Says how long the first "no such article" is believed, and how many answers are kept.</summary>
    public void Configure(TimeSpan believed, int most)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(most, 1);
        lock (_gate)
            (_believed, _most) = (believed, most);
    }

    /// <summary>Takes in what an earlier run has stored.</summary>
    public void Restore(LearnedValues values)
    {
        lock (_gate)
        {
            foreach (var (provider, cap) in values.Caps)
                _caps.TryAdd(provider, cap);
            foreach (var miss in values.Misses)
                _misses.Put(miss, _most);
            foreach (var (breaker, known) in values.Breaks)
                _breaks.TryAdd(breaker, () => known);
        }
    }

    /// <summary>Takes out what is new since the last call.</summary>
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

        // A breaker is read outside of the lock, since it has one of its own.
        return values with { Breaks = breaks.ToDictionary(breaker => breaker.Key, breaker => breaker.Value()) };
    }

    /// <summary>The most connections that a provider has taken of late, where that is less than its account promises; else null.</summary>
    public int? CapOf(Guid provider)
    {
        lock (_gate)
            return _caps.GetValueOrDefault(provider);
    }

    /// <summary>The account or the address of a provider has changed: how the old one failed says nothing any more.</summary>
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

    /// <summary>The id stands for another server from now on: neither how the old one failed nor how many connections it took says anything.</summary>
    internal void ForgetServer(Guid provider)
    {
        ForgetBreaks(provider);
        RememberCap(provider, null);
    }

    /// <summary>Where a breaker stood when it was heard of last; null for nothing.</summary>
    internal RememberedBreak? BreakOf(Guid provider, BreakerKind kind)
    {
        Func<RememberedBreak?>? known;
        lock (_gate)
            known = _breaks.GetValueOrDefault((provider, kind));
        return known?.Invoke();
    }

    /// <summary>A breaker has changed. It is asked how it stands when that is to be stored.</summary>
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

    /// <summary>Whether a provider has said of late that it does not have an article.</summary>
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

    /// <summary>A provider may have an article after all: it is asked again.</summary>
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
            // What is stored of it is replaced by an answer that is out of date.
            if (_misses.Forget(key) is { } forgotten && _newMisses.Count < MostUntaken)
                _newMisses.Add(forgotten);
        }
    }

    /// <summary>A provider has said that it does not have an article. Time-outs and broken connections never come here.</summary>
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
/// Which provider does not have which article: believed for an hour at first, twice as long each time the answer is repeated
/// after that, up to a day (F18). A pair is kept as 128 bits of SHA-256, which cannot be made to collide on purpose.
/// </summary>
/// <remarks>Pure state of one <see cref="ProviderMemory"/>, used under its lock. Bounded: the oldest answer makes room for a new one.</remarks>
internal sealed class MissMemory(TimeProvider time)
{
    private static readonly TimeSpan Longest = TimeSpan.FromHours(24);

    private readonly Dictionary<Guid, Answer> _answers = [];
    private readonly Queue<Guid> _byAge = new();

    /// <summary>Answers kept, those included that are out of date.</summary>
    public int Count => _answers.Count;

    /// <summary>Stands for a provider and an article.</summary>
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

    /// <summary>An answer is believed no more.</summary>
    /// <returns>What takes its place; null where it was not believed.</returns>
    public RememberedMiss? Forget(Guid key)
    {
        if (!Holds(key))
            return null;
        var believed = _answers[key].Believed;
        _answers[key] = new Answer(time.GetTimestamp(), believed);
        return new RememberedMiss(key, time.WallTime(), believed);
    }

    /// <summary>A provider has given the answer just now.</summary>
    /// <returns>What is remembered of it.</returns>
    public RememberedMiss Add(Guid key, TimeSpan first, int most)
    {
        var believed = _answers.TryGetValue(key, out var before) ? before.Believed * 2 : first;
        believed = believed < Longest ? believed : Longest;
        var miss = new RememberedMiss(key, time.WallTime() + believed, believed);
        Put(miss, most);
        return miss;
    }

    /// <summary>Takes in what an earlier run remembered.</summary>
    public void Put(RememberedMiss answer, int most)
    {
        if (!_answers.ContainsKey(answer.Key))
            _byAge.Enqueue(answer.Key);

        // A clock that was far ahead once must not make an answer last for years.
        _answers[answer.Key] = new Answer(time.TimestampOf(answer.Until, past: Longest, ahead: Longest), answer.Believed);
        while (_answers.Count > most)
            _answers.Remove(_byAge.Dequeue());
    }

    /// <param name="Until">Timestamp of when it is forgotten: a clock that is set moves no answer.</param>
    /// <param name="Believed">How long it is believed.</param>
    private readonly record struct Answer(long Until, TimeSpan Believed);
}
