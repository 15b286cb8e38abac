using Sluice.Usenet.Media;
using Sluice.Usenet.Nntp;

namespace Sluice.Usenet.Probing;

/// <summary>Settings of a probe. Immutable.</summary>
public sealed record ProbeOptions
{
    public OperationLane Lane { get; init; } = OperationLane.Import;

    /// <summary>Pays for the fetches of a viewer; if null, they count for the lane alone.</summary>
    public ReaderAccount? Account { get; init; }

    /// <summary>Whether to skip backup providers, for background work.</summary>
    public bool SparesBackups { get; init; }

    /// <summary>Whether to read articles to their ends, so that no connection is lost by canceling the rest.</summary>
    public bool TakesWholeArticles { get; init; }

    /// <summary>Maximum number of parallel fetches, which the source pipelines over its connections.</summary>
    public int Concurrency { get; init; } = 64;

    /// <summary>Number of first bytes kept per file, enough to recognize its kind.</summary>
    public int HeadBytes { get; init; } = MediaSignature.SufficientLength;

    /// <summary>Called for each fetched file as soon as it is done, on any thread; may be null.</summary>
    public Action<FileHead>? Found { get; init; }

    /// <summary>Called on any thread with the <see cref="ArticleReply.Connection"/> that delivered a damaged article; may be null.</summary>
    public Action<object>? Garbled { get; init; }

    /// <summary>Whether PAR2 files are probed like plain files. Repair and naming read them elsewhere.</summary>
    public bool IncludesPar2 { get; init; }

    /// <summary>How long to wait for an optional trailer after the beginning arrived; zero to never wait.</summary>
    public TimeSpan TrailerPatience { get; init; } = TimeSpan.FromSeconds(2);

    public TimeProvider Time { get; init; } = TimeProvider.System;

    /// <summary>Maximum number of segments of a file that the NZB lists as one file per segment.</summary>
    public int MaxJoined { get; init; } = 20_000;

    /// <summary>Longest file, in bytes, whose articles are all fetched because they carry no ranges (IMP-35).</summary>
    public long MaxCounted { get; init; } = 64L << 20;

    /// <summary>Maximum number of articles in such a file.</summary>
    public int MaxCountedArticles { get; init; } = 20_000;

    /// <summary>Maximum number of headers read to find deviations from equal parts in one file.</summary>
    public int MaxBisected { get; init; } = 4096;
}
