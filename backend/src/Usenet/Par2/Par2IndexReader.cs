namespace Sluice.Usenet.Par2;

/// <summary>Fills a buffer with the bytes of a file from a place on; the buffer lies inside of the file.</summary>
/// <param name="offset">0-based place of the first byte.</param>
/// <param name="buffer">What is filled, whole.</param>
/// <param name="cancellationToken">Gives up.</param>
public delegate ValueTask Par2Source(long offset, Memory<byte> buffer, CancellationToken cancellationToken);

/// <summary>Reads the index of a PAR2 set out of a posted file. What is stepped over is not read, so a volume is no dearer than its index.</summary>
/// <remarks>Not thread-safe; one reader reads one file once.</remarks>
/// <param name="length">Length of the file in bytes.</param>
/// <param name="read">Where its bytes come from.</param>
public sealed class Par2IndexReader(long length, Par2Source read)
{
    /// <summary>Most bytes that are read of one file: 16 MiB.</summary>
    public const int MaxBytes = 16 << 20;

    // The packets of most sets fit into one stretch.
    private const int Stretch = 16 << 10;

    private readonly Par2Findings _found = new();

    /// <summary>Bytes that were read so far.</summary>
    public int BytesRead { get; private set; }

    /// <summary>What is known so far, also after a read that failed; null where no packet was whole.</summary>
    public Par2Index? Index => _found.ToIndex();

    /// <summary>Reads the file, up to <see cref="MaxBytes"/>.</summary>
    /// <param name="cancellationToken">Gives up.</param>
    /// <returns><see cref="Index"/> at the end.</returns>
    /// <exception cref="Exception">What the source throws; <see cref="Index"/> keeps what was found before.</exception>
    public async Task<Par2Index?> ReadAsync(CancellationToken cancellationToken)
    {
        var buffer = new byte[Stretch];
        var window = Memory<byte>.Empty;
        var needed = 1;
        for (long position = 0; position < length && _found.WantsMore;)
        {
            if (window.Length < Math.Min(needed, length - position))
            {
                var wanted = (int)Math.Min(Math.Max(needed, Stretch), length - position);
                if (wanted - window.Length > MaxBytes - BytesRead)
                    break;
                var target = wanted > buffer.Length ? new byte[wanted] : buffer;
                window.CopyTo(target);
                await read(position + window.Length, target.AsMemory(window.Length, wanted - window.Length), cancellationToken);
                BytesRead += wanted - window.Length;
                buffer = target;
                window = target.AsMemory(0, wanted);
            }

            var step = Par2Reader.Next(window.Span, length - position);
            _found.Add(step);
            position += step.Advance;
            window = step.Advance < window.Length ? window[(int)step.Advance..] : Memory<byte>.Empty;
            needed = Math.Max(step.Needed, 1);
        }

        return Index;
    }
}
