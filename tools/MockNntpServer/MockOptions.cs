using System.Net;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;

namespace Sluice.Tools.MockNntpServer;

/// <summary>How a mock starts. Immutable.</summary>
public sealed record MockOptions
{
    /// <summary>One listener each.</summary>
    public IReadOnlyList<MockProvider> Providers { get; init; } = [new MockProvider()];

    /// <summary>Seed of jitter and of the placement of faults and coverage. Content has its own seed in the message-ids.</summary>
    public ulong Seed { get; init; } = 1;

    /// <summary>Faults of all providers or of one by number, beside what the providers carry themselves.</summary>
    public IReadOnlyList<MockFault> Faults { get; init; } = [];

    /// <summary>Articles that no provider has.</summary>
    public ArticleSelection Missing { get; init; } = ArticleSelection.None;

    /// <summary>Articles with a wrong byte at every provider, the same everywhere.</summary>
    public ArticleSelection Corrupt { get; init; } = ArticleSelection.None;

    /// <summary>Real files to serve, in the order of the release that names them.</summary>
    public IReadOnlyList<MediaContent> Media { get; init; } = [];

    /// <summary>Releases whose content the mock has to know, such as those of archives; each has a seed of its own.</summary>
    public IReadOnlyList<MockRelease> Releases { get; init; } = [];

    /// <summary>Folder of raw articles as posted, read with all folders below it; null for none.</summary>
    public string? Spool { get; init; }

    /// <summary>Most bytes of encoded articles kept in memory.</summary>
    public long CacheBytes { get; init; } = 512L << 20;

    /// <summary>Makes the release of a seed that the control port is asked for; null: it has none.</summary>
    public Func<ulong, MockRelease>? Release { get; init; }

    /// <summary>Address of all listeners but the control port.</summary>
    public IPAddress Bind { get; init; } = IPAddress.Loopback;

    /// <summary>Port for statistics and changes over HTTP, always on loopback; 0: a free one, null: none.</summary>
    public int? ControlPort { get; init; }

    /// <summary>Clock of latency, bandwidth and faults.</summary>
    public TimeProvider Time { get; init; } = TimeProvider.System;
}
