namespace Sluice.Usenet.Par2;

/// <summary>Fills a buffer from the 0-based <paramref name="offset"/> of a file. The range must lie inside the file.</summary>
public delegate ValueTask Par2Source(long offset, Memory<byte> buffer, CancellationToken cancellationToken);

/// <summary>Reads the index of a PAR2 set from a posted file. Skipped packets are not read, so a volume costs no more than an index.</summary>
/// <remarks>Not thread-safe; use one reader per file.</remarks>
/// <param name="length">Length of the file in bytes.</param>
public sealed class Par2IndexReader(long length, Par2Source read)
{
    /// <summary>Maximum bytes read from one file: 16 MiB.</summary>
    public const int MaxBytes = 16 << 20;

    // Holds all packets of most sets, so that one read suffices.
    private const int ChunkLength = 16 << 10;

    private readonly Par2Findings _found = new();

    public int BytesRead { get; private set; }

    /// <summary>The index as known so far, even after a failed read; null if no packet was intact.</summary>
    public Par2Index? Index => _found.ToIndex();

    /// <summary>Reads the file, up to <see cref="MaxBytes"/>, and returns <see cref="Index"/>.</summary>
    /// <exception cref="Exception">The source failed; <see cref="Index"/> keeps the earlier findings.</exception>
    public async Task<Par2Index?> ReadAsync(CancellationToken cancellationToken)
    {
        var buffer = new byte[ChunkLength];
        var window = Memory<byte>.Empty;
        var needed = 1;
        for (long position = 0; position < length && _found.WantsMore;)
        {
            if (window.Length < Math.Min(needed, length - position))
            {
                var wanted = (int)Math.Min(Math.Max(needed, ChunkLength), length - position);
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
