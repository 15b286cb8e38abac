using BenchmarkDotNet.Attributes;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Benchmarks;

/// <summary>The checksum of a part joined to that of what is before it.</summary>
[MemoryDiagnoser]
public class JoinBenchmarks
{
    private readonly long _length = RawBodies.PartLength;

    /// <summary>A part of any length.</summary>
    [Benchmark]
    public uint Join() => Crc32Kernel.Combine(0x12345678, 0x9ABCDEF0, _length);
}
