namespace Sluice.Usenet.Streams;

/// <summary>Where the segments served to readers came from, since the process started.</summary>
/// <param name="Cached">Segments from memory or disk.</param>
/// <param name="Fetched">Segments from a provider.</param>
public readonly record struct ServedCounts(long Cached, long Fetched, long CachedBytes);
