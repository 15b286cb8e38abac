namespace Sluice.Usenet.Archives;

/// <summary>Limits the header data read for one release: all volumes, sets and nested archives together (IMP-56).</summary>
/// <remarks>Thread-safe, because volumes are read in parallel. A request above the limit is not charged, so it cannot starve other sets.</remarks>
public sealed class ArchiveBudget
{
    /// <summary>Header bytes allowed for every release: 1 MiB.</summary>
    public const long BaseBytes = 1 << 20;

    /// <summary>Headers allowed for every release: ten thousand.</summary>
    public const int BaseSteps = 10_000;

    /// <summary>Maximum header bytes, regardless of the number of volumes: 64 MiB.</summary>
    public const long MaxBytes = 64 << 20;

    /// <summary>Maximum unpacked size of all packed 7z headers: 64 MiB, enough for over ten thousand files with long names.</summary>
    public const int MaxUnpacked = 64 << 20;

    // Real volumes have about three headers of 500 bytes in total.
    private const int BytesPerVolume = 16 << 10;
    private const int StepsPerVolume = 16;
    private const int MaxVolumes = (int)((MaxBytes - BaseBytes) / BytesPerVolume);

    private readonly long _maxBytes;
    private readonly long _maxSteps;
    private long _bytes;
    private long _steps;
    private long _unpacked;

    /// <summary>Creates a budget that grows with the number of posted files that may be volumes (<paramref name="volumes"/>), up to 4,032.</summary>
    public ArchiveBudget(int volumes = 0)
    {
        var counted = Math.Clamp(volumes, 0, MaxVolumes);
        _maxBytes = BaseBytes + ((long)counted * BytesPerVolume);
        _maxSteps = BaseSteps + ((long)counted * StepsPerVolume);
    }

    public long Bytes => Interlocked.Read(ref _bytes);

    public long Steps => Interlocked.Read(ref _steps);

    /// <summary>Charges header bytes. Call this before reading them.</summary>
    /// <exception cref="ArchiveException">The release exceeds its budget.</exception>
    public void TakeBytes(long count)
    {
        if (!TryTake(ref _bytes, count, _maxBytes))
            throw new ArchiveException(ArchiveFault.Unsupported, "the headers of the release are too long");
    }

    /// <summary>Charges headers or list entries. Call this before reading them.</summary>
    /// <exception cref="ArchiveException">The release exceeds its budget.</exception>
    public void TakeSteps(int count = 1)
    {
        if (!TryTake(ref _steps, count, _maxSteps))
            throw new ArchiveException(ArchiveFault.Unsupported, "the release has too many headers");
    }

    /// <summary>Charges the unpacked size of a packed header. Call this before unpacking.</summary>
    /// <exception cref="ArchiveException">The release exceeds its budget.</exception>
    public void TakeUnpacked(long count)
    {
        if (!TryTake(ref _unpacked, count, MaxUnpacked))
            throw new ArchiveException(ArchiveFault.Unsupported, "its header unpacks to too much");
    }

    private static bool TryTake(ref long taken, long count, long most)
    {
        if (count < 0 || count > most)
            return false;
        while (true)
        {
            var before = Interlocked.Read(ref taken);
            if (count > most - before)
                return false;
            if (Interlocked.CompareExchange(ref taken, before + count, before) == before)
                return true;
        }
    }
}
