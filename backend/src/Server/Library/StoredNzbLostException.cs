namespace Sluice.Server.Library;

/// <summary>A stored NZB is gone, or is not the one that was stored.</summary>
internal sealed class StoredNzbLostException(string hash, Exception? inner = null) : IOException($"The stored NZB {hash} is lost or damaged.", inner)
{
    /// <summary>There is no file of it, which may be a folder that is not mounted; otherwise what is there is not what was stored.</summary>
    public bool IsMissing { get; init; }
}
