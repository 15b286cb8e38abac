namespace Sluice.Server.Database;

/// <summary>An NZB is longer than one may be; nothing was kept of it.</summary>
internal sealed class BlobTooLargeException(long limit) : IOException($"The NZB is larger than {limit >> 20} MiB.")
{
    /// <summary>The limit in bytes of plain text.</summary>
    public long Limit { get; } = limit;
}
