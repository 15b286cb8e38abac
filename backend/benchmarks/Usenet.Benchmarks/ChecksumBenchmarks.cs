using BenchmarkDotNet.Attributes;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Benchmarks;

/// <summary>Each form of the checksum over the bytes of one article.</summary>
[MemoryDiagnoser]
public class ChecksumBenchmarks
{
    private readonly byte[] _data = new byte[RawBodies.PartLength];
    private ChecksumForms.Update _update = Crc32Slicing.Update;

    /// <summary>The forms of this CPU by name.</summary>
    public static IEnumerable<string> Forms => ChecksumForms.Supported.Select(form => form.Name);

    /// <summary>The form that runs.</summary>
    [ParamsSource(nameof(Forms))]
    public string Form { get; set; } = "";

    /// <summary>Forces the form.</summary>
    [GlobalSetup]
    public void Force() => _update = ChecksumForms.Supported.Single(form => form.Name == Form).Update;

    /// <summary>One article.</summary>
    [Benchmark]
    public uint Article() => _update(uint.MaxValue, _data);
}
