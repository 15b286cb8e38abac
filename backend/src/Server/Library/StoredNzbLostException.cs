namespace Sluice.Server.Library;

/// <summary>A stored NZB is gone, or is not the one that was stored.</summary>
internal sealed class StoredNzbLostException(string hash, Exception? inner = null) : IOException($"The stored NZB {hash} is lost or damaged.", inner);
