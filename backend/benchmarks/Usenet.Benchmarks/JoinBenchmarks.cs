using BenchmarkDotNet.Attributes;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Benchmarks;

/// <summary>The checksum of a part joined to that of what is before it.</summary>
[MemoryDiagnoser]
public class JoinBenchmarks
{
    private readonly long _length = RawBodies.PartLength;
    private readonly uint _power = Crc32Kernel.PowerFor(RawBodies.PartLength);

    /// <summary>A part of any length.</summary>
    [Benchmark(Baseline = true)]
    public uint Join() => Crc32Kernel.Combine(0x12345678, 0x9ABCDEF0, _length);

    /// <summary>One of many parts of the same length.</summary>
    [Benchmark]
    public uint JoinByPower() => Crc32Kernel.CombineBy(0x12345678, 0x9ABCDEF0, _power);
}
