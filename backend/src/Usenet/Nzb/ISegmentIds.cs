namespace Sluice.Usenet.Nzb;

/// <summary>The message-ids of one segment: the one to ask for, and those of duplicates to ask for after a miss.</summary>
/// <param name="Primary">Empty when the segment was never posted.</param>
/// <param name="Fallbacks">At most three; never null.</param>
public readonly record struct SegmentIds(MessageId Primary, IReadOnlyList<MessageId> Fallbacks)
{
    /// <summary>A segment that was never posted.</summary>
    public static SegmentIds None => new(default, []);
}

/// <summary>The message-ids of a posted file in the order of its segments.</summary>
/// <remarks>Thread-safe. Implementations keep few ids in memory and read more on demand.</remarks>
public interface ISegmentIds
{
    /// <summary>Number of segments, holes included.</summary>
    int Count { get; }

    /// <summary>The ids of one segment.</summary>
    /// <param name="index">0-based, below <see cref="Count"/>.</param>
    /// <param name="cancellationToken">Gives a read from disk up.</param>
    /// <exception cref="IOException">The stored list is lost or damaged.</exception>
    ValueTask<SegmentIds> GetAsync(int index, CancellationToken cancellationToken);
}
