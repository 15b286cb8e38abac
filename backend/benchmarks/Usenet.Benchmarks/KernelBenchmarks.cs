using BenchmarkDotNet.Attributes;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Benchmarks;

/// <summary>Each kernel over 8 articles in turn, with what it allocates.</summary>
[MemoryDiagnoser]
public class KernelBenchmarks
{
    private readonly byte[][] _articles = RawBodies.Noise(8);
    private KernelTrial _trial = new(YencKernel.Best);

    /// <summary>The kernels of this CPU by name.</summary>
    public static IEnumerable<string> Kernels => YencKernel.Supported.Select(kernel => kernel.Name);

    /// <summary>The kernel that runs.</summary>
    [ParamsSource(nameof(Kernels))]
    public string Kernel { get; set; } = "";

    /// <summary>Forces the kernel.</summary>
    [GlobalSetup]
    public void Force() => _trial = new KernelTrial(YencKernel.Supported.Single(kernel => kernel.Name == Kernel));

    /// <summary>The ruler.</summary>
    [Benchmark(Baseline = true)]
    public void Copy() => _trial.Copy(_articles);

    /// <summary>An article in one call.</summary>
    [Benchmark]
    public void Articles() => _trial.Decode(_articles, int.MaxValue);

    /// <summary>Reads of 64 KiB.</summary>
    [Benchmark]
    public void Calls64KiB() => _trial.Decode(_articles, 64 * 1024);

    /// <summary>A packet at a time.</summary>
    [Benchmark]
    public void Calls1440() => _trial.Decode(_articles, 1_440);

    /// <summary>What the decoder does with an article.</summary>
    [Benchmark]
    public uint DecodeAndSum() => _trial.DecodeAndSum(_articles, 64 * 1024);
}
