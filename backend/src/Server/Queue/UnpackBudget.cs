namespace Sluice.Server.Queue;

/// <summary>How many bytes all that is in one upload may unpack to (S15). Has one user.</summary>
/// <param name="packed">Bytes of the upload.</param>
internal sealed class UnpackBudget(long packed)
{
    /// <summary>Plain bytes per packed byte (IMP-10); text packs to a tenth, a bomb to a thousandth.</summary>
    public const int MaxRatio = 200;

    /// <summary>The ratio of fewer bytes says nothing yet.</summary>
    public const long Grace = 1 << 20;

    /// <summary>Plain bytes in all: sixteen NZBs of the longest kind.</summary>
    public const long MaxBytes = 4L << 30;

    private readonly long _limit = Math.Min(MaxBytes, Math.Max(Grace, packed * MaxRatio));
    private long _taken;

    /// <summary>Whether more was unpacked than may be.</summary>
    public bool IsSpent => _taken > _limit;

    /// <summary>What there is too much of, for the sentence.</summary>
    public string Excess => _limit == MaxBytes ? $"it unpacks to more than {MaxBytes >> 20} MiB" : $"it unpacks to more than {MaxRatio} times its size";

    /// <summary>Counts unpacked bytes.</summary>
    public void Take(int bytes) => _taken += bytes;
}
