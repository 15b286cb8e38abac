using Sluice.Usenet.Streams.Maps;

namespace Sluice.Server.Library;

/// <summary>A posted file as the library keeps it: its geometry, and where its message-ids stand in the release's list.</summary>
/// <param name="Ordinal">Number in its release, 0-based.</param>
/// <param name="Places">Where the ids of its segments are.</param>
/// <param name="Map">Where each segment begins and ends.</param>
/// <param name="Habit">What its articles carry, as far as known.</param>
internal sealed record StoredPostedFile(int Ordinal, SegmentPlaces Places, SegmentMap Map, ArticleHabit Habit = default);

/// <summary>A row of <c>posted_file</c>.</summary>
internal sealed record PostedFileRow
{
    public long Ordinal { get; init; }
    public required byte[] Places { get; init; }
    public required byte[] Map { get; init; }
    public long Habit { get; init; }

    public StoredPostedFile Read() => new((int)Ordinal, SegmentPlaces.Unpack(Places), SegmentMap.Unpack(Map), ArticleHabit.Unpack(Habit));
}
