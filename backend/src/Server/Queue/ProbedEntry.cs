using Sluice.Server.Library;
using Sluice.Usenet.Media;
using Sluice.Usenet.Streams;

namespace Sluice.Server.Queue;

/// <summary>What the probe told about a posted file, whether the NZB lists it as one file or as many.</summary>
/// <param name="Ordinal">Number of its first entry in the NZB.</param>
/// <param name="Places">Where the ids of its segments are.</param>
/// <param name="IdsHashes">Id hashes of its entries in order.</param>
/// <param name="SubjectName">File name in the subject, or null.</param>
/// <param name="YencName">Name in the yEnc header, or null.</param>
/// <param name="Kind">What it is by its first bytes.</param>
/// <param name="Map">Where each segment begins and ends; null for archives, which are of no use by themselves.</param>
/// <param name="Habit">What its articles carry, as far as the probe has seen it.</param>
internal sealed record ProbedEntry(
    int Ordinal,
    SegmentPlaces Places,
    IReadOnlyList<byte[]> IdsHashes,
    string? SubjectName,
    string? YencName,
    MediaKind Kind,
    SegmentMap? Map,
    ArticleHabit Habit);
