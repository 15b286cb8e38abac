using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Benchmarks;

/// <summary>One kernel over raw bodies, from their first byte to their last.</summary>
internal sealed class KernelTrial(YencKernel kernel)
{
    // An article whose every byte is escaped is twice as long as it should be, and the ruler copies it whole.
    private readonly byte[] _decoded = new byte[2 * 1024 * 1024];

    /// <summary>Decodes each body in calls of a given length into one contiguous destination.</summary>
    public void Decode(byte[][] bodies, int callLength)
    {
        foreach (var body in bodies)
        {
            YencState state = default;
            var written = 0;
            for (var at = 0; at < body.Length;)
            {
                var piece = body.AsSpan(at, Math.Min(callLength, body.Length - at));
                var stop = kernel.Decode(piece, _decoded.AsSpan(written), ref state, out var consumed, out var more);
                at += consumed;
                written += more;
                if (stop != YencStop.NeedInput)
                    throw new InvalidOperationException($"{kernel} stopped with {stop} at {at}.");
            }
        }
    }

    /// <summary>Decodes each body into steps of a given length, and takes the checksum of each while it is in the cache.</summary>
    public uint DecodeAndSum(byte[][] bodies, int step)
    {
        var crc = 0u;
        foreach (var body in bodies)
        {
            YencState state = default;
            var written = 0;
            for (var at = 0; at < body.Length;)
            {
                kernel.Decode(body.AsSpan(at), _decoded.AsSpan(written, step), ref state, out var consumed, out var more);
                crc = Crc32Kernel.Append(crc, _decoded.AsSpan(written, more));
                at += consumed;
                written += more;
            }
        }

        return crc;
    }

    /// <summary>The ruler: the same bytes, moved and not looked at.</summary>
    public void Copy(byte[][] bodies)
    {
        foreach (var body in bodies)
            body.CopyTo(_decoded, 0);
    }
}
