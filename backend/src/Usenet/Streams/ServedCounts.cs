namespace Sluice.Usenet.Streams;

/// <summary>Where the segments came from that readers were served with, since the start.</summary>
/// <param name="Cached">Segments that were in memory or on disk.</param>
/// <param name="Fetched">Segments that came from a provider.</param>
/// <param name="CachedBytes">Bytes of those that were in memory or on disk.</param>
public readonly record struct ServedCounts(long Cached, long Fetched, long CachedBytes);
