namespace Sluice.Usenet.Archives;

/// <summary>What reading the headers of one release may cost at most: all volumes, all sets and all archives in archives together (IMP-56).</summary>
/// <remarks>
/// Thread-safe, because sets and volumes are read in parallel. A claim that does not fit takes nothing, so that one absurd header does not
/// use up what other sets need.
/// </remarks>
public sealed class ArchiveBudget
{
    /// <summary>Bytes of headers that any release may have: 1 MiB.</summary>
    public const long BaseBytes = 1 << 20;

    /// <summary>Headers that any release may have: ten thousand.</summary>
    public const int BaseSteps = 10_000;

    /// <summary>Bytes of headers, whatever the number of volumes: 64 MiB.</summary>
    public const long MaxBytes = 64 << 20;

    /// <summary>Bytes that packed headers of 7z may unpack to: 64 MiB, more than ten thousand files with long names need.</summary>
    public const int MaxUnpacked = 64 << 20;

    // Real volumes have about three headers and 500 bytes of them.
    private const int BytesPerVolume = 16 << 10;
    private const int StepsPerVolume = 16;
    private const int MaxVolumes = (int)((MaxBytes - BaseBytes) / BytesPerVolume);

    private readonly long _maxBytes;
    private readonly long _maxSteps;
    private long _bytes;
    private long _steps;
    private long _unpacked;

    /// <summary>Makes a budget.</summary>
    /// <param name="volumes">Posted files that may be volumes. Those beyond 4,032 add nothing.</param>
    public ArchiveBudget(int volumes = 0)
    {
        var counted = Math.Clamp(volumes, 0, MaxVolumes);
        _maxBytes = BaseBytes + ((long)counted * BytesPerVolume);
        _maxSteps = BaseSteps + ((long)counted * StepsPerVolume);
    }

    /// <summary>Bytes of headers that were read.</summary>
    public long Bytes => Interlocked.Read(ref _bytes);

    /// <summary>Headers, list entries and other things that were looked at.</summary>
    public long Steps => Interlocked.Read(ref _steps);

    /// <summary>Pays for bytes before they are read.</summary>
    /// <exception cref="ArchiveException">The release has no more to spend.</exception>
    public void TakeBytes(long count)
    {
        if (!TryTake(ref _bytes, count, _maxBytes))
            throw new ArchiveException(ArchiveFault.Unsupported, "the headers of the release are too long");
    }

    /// <summary>Pays for steps before they are taken.</summary>
    /// <exception cref="ArchiveException">The release has no more to spend.</exception>
    public void TakeSteps(int count = 1)
    {
        if (!TryTake(ref _steps, count, _maxSteps))
            throw new ArchiveException(ArchiveFault.Unsupported, "the release has too many headers");
    }

    /// <summary>Pays for the bytes that a packed header unpacks to, before it is unpacked.</summary>
    /// <exception cref="ArchiveException">The release has no more to spend.</exception>
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
