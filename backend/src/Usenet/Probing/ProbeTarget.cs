using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Probing;

/// <summary>A posted file of which nothing is known but what the NZB says.</summary>
/// <param name="Subject">What its subject tells.</param>
/// <param name="Ids">Its message-ids in order, at least one.</param>
/// <param name="EncodedBytes">Size of all its articles in bytes as the NZB claims it; a hint, and 0 where nobody knows.</param>
public readonly record struct ProbeTarget(NzbSubject Subject, ISegmentIds Ids, long EncodedBytes = 0);
