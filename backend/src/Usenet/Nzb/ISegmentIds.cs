namespace Sluice.Usenet.Nzb;

/// <summary>The message-ids of one segment: the primary id, and duplicates to try if the primary is missing.</summary>
/// <param name="Primary">Empty if the segment was never posted.</param>
/// <param name="Fallbacks">At most three; never null.</param>
public readonly record struct SegmentIds(MessageId Primary, IReadOnlyList<MessageId> Fallbacks)
{
    public static SegmentIds None => new(default, []);
}

/// <summary>The message-ids of a posted file, in segment order.</summary>
/// <remarks>Thread-safe. Implementations keep few ids in memory and read more on demand.</remarks>
public interface ISegmentIds
{
    /// <summary>Number of segments, including holes: segments never posted.</summary>
    int Count { get; }

    /// <summary>Returns the ids of one segment by its 0-based index.</summary>
    /// <exception cref="IOException">The stored list is lost or damaged.</exception>
    ValueTask<SegmentIds> GetAsync(int index, CancellationToken cancellationToken);
}
