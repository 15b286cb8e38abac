using Sluice.Usenet.Media;
using Sluice.Usenet.Nntp;

namespace Sluice.Usenet.Probing;

/// <summary>How a release is probed.</summary>
/// <remarks>Immutable.</remarks>
public sealed record ProbeOptions
{
    /// <summary>Why it is asked for; a viewer may wait for it.</summary>
    public OperationLane Lane { get; init; } = OperationLane.Import;

    /// <summary>Whether backup providers are never asked: for work in the background.</summary>
    public bool SparesBackups { get; init; }

    /// <summary>Whether articles are taken to their ends although their beginnings are enough, so that no connection is given up for their rest.</summary>
    public bool TakesWholeArticles { get; init; }

    /// <summary>Most articles asked for at once, which the source pipelines over its connections.</summary>
    public int Concurrency { get; init; } = 64;

    /// <summary>First bytes of each file that are kept, in bytes; enough to tell its kind.</summary>
    public int HeadBytes { get; init; } = MediaSignature.SufficientLength;

    /// <summary>Told of each file that has been asked for as soon as it is done, on any thread; null when the caller waits for all.</summary>
    public Action<FileHead>? Found { get; init; }

    /// <summary>Told of each connection that a damaged article came over, as <see cref="ArticleReply.Connection"/> names it, on any thread; null if that does not matter.</summary>
    public Action<object>? Garbled { get; init; }

    /// <summary>Whether PAR2 files are probed like plain ones. What repairs and names need of them is read elsewhere.</summary>
    public bool IncludesPar2 { get; init; }

    /// <summary>How long the end of an article may take whose beginning is there: its trailer is good to know, and not needed. Zero: it is not wanted.</summary>
    public TimeSpan TrailerPatience { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>Clock of <see cref="TrailerPatience"/>.</summary>
    public TimeProvider Time { get; init; } = TimeProvider.System;

    /// <summary>Most segments of a file that is listed as one file per segment.</summary>
    public int MaxJoined { get; init; } = 20_000;

    /// <summary>Longest file, in bytes, whose articles carry no ranges, so that all of them have to be fetched (IMP-35).</summary>
    public long MaxCounted { get; init; } = 64L << 20;

    /// <summary>Most articles of such a file.</summary>
    public int MaxCountedArticles { get; init; } = 20_000;

    /// <summary>Most headers read to find out where one file deviates from equal parts.</summary>
    public int MaxBisected { get; init; } = 4096;
}
