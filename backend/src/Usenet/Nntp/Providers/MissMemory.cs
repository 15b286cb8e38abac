using System.Runtime.InteropServices;
using System.Security.Cryptography;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Nntp;

/// <summary>One answer "no such article" that is believed for a while.</summary>
/// <param name="Key">Stands for provider and article.</param>
/// <param name="Until">When it is forgotten.</param>
/// <param name="Believed">How long it is believed from the answer on; twice as long after the next.</param>
public readonly record struct RememberedMiss(Guid Key, DateTimeOffset Until, TimeSpan Believed);

/// <summary>
/// Which provider does not have which article: believed for an hour at first, twice as long each time the answer is repeated
/// after that, up to a day (F18). A pair is kept as 128 bits of SHA-256, which nobody can make collide on purpose.
/// </summary>
/// <remarks>Guarded by the lock of <see cref="ProviderMemory"/>. Bounded: the oldest answer makes room for a new one.</remarks>
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
