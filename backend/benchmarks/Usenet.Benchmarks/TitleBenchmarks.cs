using BenchmarkDotNet.Attributes;
using Sluice.Usenet.Media.Titles;

namespace Sluice.Usenet.Benchmarks;

/// <summary>The title of a release from its name: at most 20 µs a name.</summary>
[MemoryDiagnoser]
public class TitleBenchmarks
{
    /// <summary>A film, an episode, anime, a subject with brackets, and an obfuscated name.</summary>
    [Params(
        "Harbour.Lights.2019.EXTENDED.2160p.UHD.BluRay.REMUX.HDR.HEVC.Atmos.TrueHD.7.1-NORDLYS",
        "Tide.Pool.S02E11.The.Long.Night.1080p.AMZN.WEB-DL.DDP5.1.H.264-NTC",
        "[SubTern] Hoshi no Fune S2 - 03v2 (1080p) [5D3E2F10].mkv",
        "[12345]-[FULL]-[#a.b.shows]-[ Tide.Pool.S01E09.720p.HDTV.x264-ROCKPOOL ]-[01/24]",
        "8f14e45fceea167a5a36dedd4bea2543")]
    public string Name { get; set; } = "";

    /// <summary>One name.</summary>
    [Benchmark]
    public ReleaseTitle? Parse() => ReleaseTitle.Parse(Name);
}
