using Sluice.Server.Database;

namespace Sluice.Server.Backups;

/// <summary>The result of rereading copies.</summary>
/// <param name="Replaced">Number of damaged copies that were replaced.</param>
/// <param name="Damaged">Number of damaged copies whose original is also damaged or missing.</param>
internal sealed record PoolCheckResult(int Replaced, int Damaged);

/// <summary>
/// Rereads the NZBs in a second folder, a thirtieth each day, because disks lose bits silently. A damaged copy is replaced from the data folder (OPS-5).
/// </summary>
/// <remarks>Blocks the calling thread.</remarks>
internal sealed class PoolCheck(BlobPool pool, IBlobSource originals)
{
    /// <summary>Number of days after which every copy has been read.</summary>
    public const int Days = 30;

    /// <summary>Rereads the part for one day.</summary>
    /// <param name="day">From 0 to <see cref="Days"/> - 1.</param>
    /// <exception cref="StorageException">A damaged copy cannot be replaced.</exception>
    public PoolCheckResult Run(int day, CancellationToken cancellationToken)
    {
        var (replaced, damaged) = (0, 0);
        foreach (var name in pool.List(day, Days))
        {
            cancellationToken.ThrowIfCancellationRequested();
            if (IsWhole(pool, name))
                continue;
            if (TryReplace(name, cancellationToken))
                replaced++;
            else
                damaged++;
        }

        pool.Flush();
        return new PoolCheckResult(replaced, damaged);
    }

    /// <summary>Rereads all copies.</summary>
    public PoolCheckResult RunAll(CancellationToken cancellationToken) =>
        Enumerable.Range(0, Days).Select(day => Run(day, cancellationToken))
            .Aggregate(static (sum, part) => new PoolCheckResult(sum.Replaced + part.Replaced, sum.Damaged + part.Damaged));

    private bool TryReplace(string name, CancellationToken cancellationToken)
    {
        // Read it twice, because a damaged original must not replace anything.
        if (!IsWhole(originals, name))
            return false;
        using var original = originals.OpenBlob(name);
        if (original is null)
            return false;
        pool.Put(name, original, cancellationToken);
        return true;
    }

    private static bool IsWhole(IBlobSource source, string name)
    {
        try
        {
            using var packed = source.OpenBlob(name);
            return packed is not null && BlobStore.IsWhole(packed, BlobPool.HashOf(name));
        }
        catch (IOException)
        {
            // A bad sector is damage too. If the whole disk fails, the replacement fails as well and reports it.
            return false;
        }
    }
}
